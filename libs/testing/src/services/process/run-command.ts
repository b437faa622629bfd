import { readFileSync } from 'node:fs';
import { startGuarded, type Launch } from './guarded-process.ts';

/** The end of a log, for a message about what went wrong. The places in the code of a Java exception are left out. */
export function lastLines(log: string, count = 15): string {
  try {
    const lines = readFileSync(log, 'utf8').trimEnd().split('\n');
    return lines
      .filter((line) => !/^\s+at \S+\(/.test(line))
      .slice(-count)
      .join('\n');
  } catch {
    return '(no log)';
  }
}

/** Runs a program to its end. It ends with us; when it fails, the error shows the last lines of its log. */
export async function runCommand(launch: Launch): Promise<void> {
  const { code, signal } = await startGuarded(launch).ended;
  if (code === 0) return;
  const outcome = code === null ? `was ended by ${signal}` : `failed with code ${code}`;
  throw new Error(`${launch.command} ${outcome}. The log ends with:\n${lastLines(launch.log)}\n(${launch.log})`);
}

/** Retries a download. Files from before the failure stay, and the next attempt continues from there. */
export async function runWithRetries(launch: Launch, attempts = 3): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      return await runCommand(launch);
    } catch (error) {
      if (attempt === attempts) throw error;
    }
  }
}
