import type { ReadinessCheck } from '@carillon/runtime';

const MIB = 1024 * 1024;
/** Memory that a role may need under load, as measured (docs/tune-a-cluster.md). */
const NEEDED = 512 * MIB;

/**
 * Warns if the memory limit is below the recommendation. Never fails readiness. Empty if the limit is sufficient or
 * absent.
 */
export function memoryChecks(limit: number = process.constrainedMemory()): readonly ReadinessCheck[] {
  if (limit <= 0 || limit >= NEEDED) return [];
  const detail =
    `at most ${Math.round(limit / MIB)} MiB: under load a role may need ${NEEDED / MIB} MiB, ` +
    'and the system kills what takes more than it may (exit code 137)';
  return [{ name: 'memory', ok: false, detail, decides: false }];
}
