import { existsSync, mkdirSync } from 'node:fs';
import { enableCompileCache } from 'node:module';
import { dirname } from 'node:path';
import { COMPILED_FOLDER } from './shipped-files.ts';

/** A source file is parsed and compiled once, not at every start. Where the folder cannot be made, it is. */
function keepCompiled(folder: string): void {
  try {
    // The folders are made one by one, because Node does not return from a recursive mkdir of some impossible paths.
    for (const one of [dirname(folder), folder]) if (!existsSync(one)) mkdirSync(one);
    enableCompileCache(folder);
  } catch {
    // Slower, and nothing else.
  }
}

/** Runs one command. Exit codes: 0 done, 1 failed, 2 wrong usage or configuration (interfaces section 4). */
export async function main(argv: readonly string[]): Promise<void> {
  // The reader of our output has exited (`carillon events | head`).
  process.stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code === 'EPIPE') process.exit(0);
    throw error;
  });
  keepCompiled(COMPILED_FOLDER);
  // Loaded after that, so that it counts for all of them.
  const [{ buildProgram }, { reportFailure }] = await Promise.all([import('./program.ts'), import('./output.ts')]);
  const program = buildProgram();
  try {
    await program.parseAsync([...argv]);
  } catch (error) {
    process.exitCode = reportFailure(error, argv.includes('--json'));
  }
}

if (import.meta.main) await main(process.argv);
