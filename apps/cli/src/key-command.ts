import { spawn } from 'node:child_process';
import { CarillonError } from '@carillon/kernel';

/** Maximum milliseconds of a command that decrypts a key: a call to a key service with retries. */
export const KEY_COMMAND_WITHIN = 15_000;
/** A key is 64 characters; more is something else. */
const MAX_OUTPUT = 4096;

/**
 * Runs an operator's command in a shell and returns its output, a key, so neither output nor errors are shown or
 * logged. Rejects with `invalid_configuration` and only the exit code if it fails, prints nothing or takes too long; it
 * is then killed with its children.
 */
export async function keyFromCommand(setting: string, command: string, within = KEY_COMMAND_WITHIN): Promise<string> {
  const refuse = (why: string): never => {
    throw new CarillonError(
      'invalid_configuration',
      `${setting}: the command ${why}. Run it by hand: it must print 32 bytes as hex or base64 and nothing else`,
    );
  };
  // A group of its own, so that what the shell started ends with it.
  const child = spawn(command, { shell: true, detached: true, stdio: ['ignore', 'pipe', 'ignore'] });
  const end = (): void => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
    } catch {
      // It has ended.
    }
    child.stdout.destroy();
  };
  let timer: NodeJS.Timeout | undefined;
  let output = '';
  const ended = new Promise<string | null>((resolve) => {
    timer = setTimeout(() => resolve(`took longer than ${within / 1000} s`), within);
    child.stdout.on('data', (chunk: Buffer) => {
      output += chunk.toString('latin1');
      if (output.length > MAX_OUTPUT) resolve('printed more than a key');
    });
    child.on('error', () => resolve('could not be started'));
    child.on('close', (code, signal) => {
      resolve(code === 0 ? null : code === null ? `was ended by ${String(signal)}` : `ended with code ${code}`);
    });
  });
  try {
    const failed = await ended;
    if (failed !== null) refuse(failed);
  } finally {
    clearTimeout(timer);
    end();
  }
  return output.trim() === '' ? refuse('printed nothing') : output.trim();
}
