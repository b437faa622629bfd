import { existsSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import type { ServiceName } from '@carillon/testing/services/needs';

/** What the process that holds a service says about it. */
export type RunningService = {
  /** The process id of the holder. When it goes, the service goes. */
  readonly pid: number;
  readonly address: string;
  readonly dataDir: string;
  /** The process ids of the service itself. */
  readonly pids: readonly number[];
};

/** The folder of this checkout: another has services of its own. Tests of the command have a folder to themselves. */
export const stateFolder = (): string =>
  process.env['CARILLON_SERVICES_STATE'] ?? resolve(import.meta.dirname, '../.cache/services');
export const stateFile = (name: ServiceName): string => join(stateFolder(), `${name}.json`);

export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
}

/** Not any process with that number: after a restart of the machine it may be somebody else's. */
function isHolder(pid: number): boolean {
  if (!isAlive(pid)) return false;
  const file = `/proc/${pid}/cmdline`;
  return !existsSync(file) || readFileSync(file, 'utf8').includes('services-holder');
}

/** What runs under this name, or nothing. */
export function findRunning(name: ServiceName): RunningService | undefined {
  if (!existsSync(stateFile(name))) return undefined;
  const state = JSON.parse(readFileSync(stateFile(name), 'utf8')) as RunningService;
  return isHolder(state.pid) ? state : undefined;
}

/** The memory that these processes take, in MB, or nothing where the system does not say. */
export function memoryOf(pids: readonly number[]): number | undefined {
  try {
    const kilobytes = pids.map((pid) =>
      Number(/^VmRSS:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0),
    );
    return Math.round(kilobytes.reduce((sum, each) => sum + each, 0) / 1024);
  } catch {
    return undefined;
  }
}
