import { readdirSync, readFileSync } from 'node:fs';

/** The kernel counts in hundredths on every Linux that Node runs on. */
const TICKS_IN_A_SECOND = 100;

/** What the kernel says of a process: CPU seconds of its own and of children that ended, and which children live. */
type Told = { readonly seconds: number; readonly children: readonly number[] };

function tell(pid: number): Told | null {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // The second field is the name in parentheses, which may hold spaces; fields 14 to 17 are what is wanted.
    const [, ...ticks] = /^.*\) (?:\S+ ){11}(\d+) (\d+) (\d+) (\d+) /s.exec(stat) ?? [];
    const threads = readdirSync(`/proc/${pid}/task`);
    const lists = threads.map((thread) => readFileSync(`/proc/${pid}/task/${thread}/children`, 'latin1'));
    return {
      seconds: ticks.reduce((sum, one) => sum + Number(one), 0) / TICKS_IN_A_SECOND,
      children: lists.join(' ').trim().split(/\s+/).filter(Boolean).map(Number),
    };
  } catch {
    return null;
  }
}

/**
 * CPU seconds, user and system, that a process has used so far with all its threads, and the processes that it started: a database
 * is many. NaN where it is gone or this is no Linux.
 */
export function cpuSeconds(pid: number): number {
  if (pid === process.pid) {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1e6;
  }
  const told = tell(pid);
  if (told === null) return Number.NaN;
  // One that ends meanwhile is counted with those that ended, the next time.
  return told.children.reduce((sum, child) => sum + (cpuSeconds(child) || 0), told.seconds);
}

/** CPU seconds of each process by its name. */
export const cpuOf = (processes: Readonly<Record<string, number>>): Record<string, number> =>
  Object.fromEntries(Object.entries(processes).map(([name, pid]) => [name, cpuSeconds(pid)]));
