import type { AuditSeal } from '@carillon/domain';
import type { LogId } from '@carillon/kernel';
import type { AuditSeals } from '@carillon/ports';
import type { Wire } from './wire.ts';

/** Seals of the audit, by log and position. */
export function createMemoryAuditSeals() {
  const stored = new Map<LogId, Map<number, AuditSeal>>();
  const inOrder = (logId: LogId): readonly AuditSeal[] =>
    [...(stored.get(logId)?.values() ?? [])].toSorted((a, b) => a.through - b.through);
  return {
    connect: (wire: Wire): AuditSeals => ({
      keep: (logId, seal) => {
        const keep = (): void => {
          const kept = stored.get(logId) ?? new Map<number, AuditSeal>();
          stored.set(logId, kept);
          if (!kept.has(seal.through)) kept.set(seal.through, structuredClone(seal));
        };
        return wire.ask('auditSeals.keep', keep, { writes: true, about: () => String(seal.through) });
      },
      list: (logId, after, limit) =>
        wire.ask('auditSeals.list', () =>
          inOrder(logId)
            .filter(({ through }) => through > after)
            .slice(0, limit),
        ),
      newest: (logId) => wire.ask('auditSeals.newest', () => inOrder(logId).at(-1) ?? null),
    }),
  };
}
