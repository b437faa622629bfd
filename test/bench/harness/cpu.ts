import { readFileSync } from 'node:fs';

/** The kernel counts in hundredths on every Linux that Node runs on. */
const TICKS_IN_A_SECOND = 100;

/** CPU seconds, user and system, that a process has used so far with all its threads; NaN where it is gone or this is no Linux. */
export function cpuSeconds(pid: number): number {
  if (pid === process.pid) {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1e6;
  }
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    // The second field is the name in parentheses, which may hold spaces; fields 14 and 15 are what is wanted.
    const [, user, system] = /^.*\) (?:\S+ ){11}(\d+) (\d+) /s.exec(stat) ?? [];
    return (Number(user) + Number(system)) / TICKS_IN_A_SECOND;
  } catch {
    return Number.NaN;
  }
}

/** CPU seconds of each process by its name. */
export const cpuOf = (processes: Readonly<Record<string, number>>): Record<string, number> =>
  Object.fromEntries(Object.entries(processes).map(([name, pid]) => [name, cpuSeconds(pid)]));
