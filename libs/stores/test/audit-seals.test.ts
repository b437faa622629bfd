import type { AuditSeal } from '@carillon/domain/audit';
import type { LogId } from '@carillon/kernel';
import { describe, expect, it } from 'vitest';
import { freshName } from '@carillon/testing';
import { createMemoryStores } from '@carillon/testing/memory';

const seal = (through: number, more: Partial<AuditSeal> = {}): AuditSeal => ({
  since: Math.max(0, through - 1),
  through,
  hash: 'ab'.repeat(32),
  mac: `mac of ${through}`,
  configuration: 7,
  leaves: ['0123456789abcdef', 'fedcba9876543210'],
  ...more,
});

describe('Seals of the audit', () => {
  const seals = createMemoryStores().connect().auditSeals;
  const freshLog = (): LogId => freshName('log') as LogId;

  it('lists seals by position, completely, from after a position on', async () => {
    const log = freshLog();
    const kept = [seal(9), seal(99), seal(1_000_000), seal(12_345_678_901)];
    for (const one of kept.toReversed()) await seals.keep(log, one);
    expect(await seals.list(log, -1, 10)).toEqual(kept);
    expect(await seals.list(log, 9, 2)).toEqual(kept.slice(1, 3));
    expect(await seals.list(log, 12_345_678_901, 10)).toEqual([]);
    expect(await seals.newest(log)).toEqual(kept.at(-1));
  });

  it('keeps an existing seal at a position', async () => {
    const log = freshLog();
    await seals.keep(log, seal(5));
    await seals.keep(log, seal(5, { mac: 'another' }));
    expect(await seals.list(log, -1, 10)).toEqual([seal(5)]);
  });

  it('keeps one of many concurrent seals', async () => {
    const log = freshLog();
    const many = Array.from({ length: 8 }, (_, at) => seal(5, { mac: `mac ${at}` }));
    await Promise.all(many.map((one) => seals.keep(log, one)));
    const kept = await seals.list(log, -1, 10);
    expect(kept).toHaveLength(1);
    expect(many).toContainEqual(kept[0]);
  });

  it('has no seals of another log', async () => {
    const log = freshLog();
    await seals.keep(freshLog(), seal(5));
    expect(await seals.list(log, -1, 10)).toEqual([]);
    expect(await seals.newest(log)).toBeNull();
  });

  it('accepts a seal of ten thousand records', async () => {
    const log = freshLog();
    const long = seal(10_000, { leaves: Array.from({ length: 10_000 }, () => '0123456789abcdef') });
    await seals.keep(log, long);
    expect(await seals.newest(log)).toEqual(long);
  });
});
