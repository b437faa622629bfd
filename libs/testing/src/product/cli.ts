import { spawn } from 'node:child_process';
import { environmentWith, PROGRAM } from './program.ts';

export type CliOptions = {
  /** Finds the product that runs over it; may be left out where a command needs none. */
  readonly dataDir?: string;
  /** Left out: the command as it stands in the checkout. */
  readonly program?: string;
  /** Standard input; nothing where it is left out. */
  readonly input?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly cwd?: string;
};

export type CliAnswer = {
  /** Null: it did not end by itself. */
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
};

const ENDS_WITHIN = 120_000;

/** Runs one `carillon` command as a process, to its end. It is killed when it takes longer than two minutes. */
export function cli(args: readonly string[], options: CliOptions = {}): Promise<CliAnswer> {
  const folder = options.dataDir === undefined ? [] : ['--data-dir', options.dataDir];
  const child = spawn(process.execPath, [options.program ?? PROGRAM, ...args, ...folder], {
    stdio: 'pipe',
    timeout: ENDS_WITHIN,
    killSignal: 'SIGKILL',
    env: environmentWith(options.env),
    ...(options.cwd !== undefined && { cwd: options.cwd }),
  });
  let stdout = '';
  let stderr = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => (stdout += text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text));
  // A command that ends without reading its input is no failure of the test.
  child.stdin.on('error', () => undefined).end(options.input ?? '');
  return new Promise((settle, fail) => {
    child.once('error', fail);
    child.once('close', (code) => settle({ code, stdout, stderr }));
  });
}
