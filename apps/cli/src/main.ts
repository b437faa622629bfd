import { buildProgram } from './program.ts';
import { reportFailure } from './output.ts';

/** Runs one command. Exit codes: 0 done, 1 failed, 2 wrong usage or configuration (interfaces section 4). */
export async function main(argv: readonly string[]): Promise<void> {
  // Whoever read our output (`carillon events | head`) has gone: there is nobody left to tell.
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(0);
    throw error;
  });
  const program = buildProgram();
  try {
    await program.parseAsync([...argv]);
  } catch (error) {
    process.exitCode = reportFailure(error, argv.includes('--json'));
  }
}

if (import.meta.main) await main(process.argv);
