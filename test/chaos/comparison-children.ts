import { readFileSync } from 'node:fs';

/** Returns the text of a file of `/proc`, or an empty text if its process has ended. */
function textOfProcess(path: string): string {
  try {
    return readFileSync(`/proc/${path}`, 'utf8');
  } catch {
    return '';
  }
}

/** Returns the child processes of a process that compare. None if the process has ended or never began. */
export function comparisonChildren(pid: number | undefined): readonly number[] {
  const pids = textOfProcess(`${pid}/task/${pid}/children`).split(' ').filter(Boolean).map(Number);
  return pids.filter((child) => /replay[-/]child/.test(textOfProcess(`${child}/cmdline`)));
}

/** Kills processes with SIGKILL. */
export function killAll(pids: readonly number[]): void {
  for (const pid of pids) {
    try {
      process.kill(pid, 'SIGKILL');
    } catch {
      // The process has ended meanwhile.
    }
  }
}
