import { mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openScratchFile } from '@carillon/adapter-embedded';
import { foldConfiguration } from '@carillon/domain/configuration';
import { NO_READ_COUNTS, type CompareRun } from '@carillon/domain/runs';
import type { EventHistory, LogRecord } from '@carillon/ports';
import { narrowRuleBook, type ComparedSlot } from '@carillon/stages';
import { changesOf, notification, ORDER_PAID, orderShop } from '@carillon/testing/given';
import { openTopology, type Topology } from '@carillon/testing/topology';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { compareHistory } from './compare-history.ts';

const ORDERS = 5;
const folder = mkdtempSync(join(tmpdir(), 'carillon-compare-'));

let topology: Topology;
beforeEach(async () => {
  topology = await openTopology({ partitions: 1 });
});
afterEach(async () => {
  await topology.close();
  await rm(folder, { recursive: true, force: true });
});

/** A log of which a process reads `pages` pages and then dies. */
function historyOf(records: readonly LogRecord[], pages = Number.POSITIVE_INFINITY): EventHistory {
  let left = pages;
  const { log } = topology.ports;
  return {
    logId: log.logId,
    partitions: () => 1,
    async *pages({ from, end }: { readonly from: number; readonly end: number }, size: number) {
      for (let at = from; at < end; at += size) {
        if (left === 0) throw new Error('the process is dead');
        left -= 1;
        const next = Math.min(at + size, end);
        yield { records: records.slice(at, next), next, removed: 0 };
      }
    },
  } as unknown as EventHistory;
}

describe('A comparison whose process dies after a page', () => {
  it('has the checksum, counts and slots of one that does not', async () => {
    const rule = ORDER_PAID.rules['paid'];
    if (!rule) throw new Error('there is a rule');
    const body = (when: string) => ({ ...ORDER_PAID, rules: { paid: { ...rule, when } } });
    await topology.publish(...orderShop(body('event.total > 100')));
    for (let id = 0; id < ORDERS; id += 1) {
      const customer = { name: 'Ada', email: 'ada@example.com' };
      await topology.event({ order_id: `order-${id}`, total: 90 + 5 * id, customer });
    }
    const before = topology.ports.configuration.current();
    const changes = changesOf(before, [notification('order-paid', body('event.total > 80'))]);
    const after = foldConfiguration(before, { changes }, before.number + 1).configuration;
    const records = await topology.records('carillon.events');
    const end = records.length;
    const run = {
      from: 0,
      to: Number.MAX_SAFE_INTEGER,
      createdAt: 0,
      offsets: [{ partition: 0, first: 0, end }],
      progress: { read: 0, total: end },
    } as unknown as CompareRun;

    async function compare(file: string, pages?: number) {
      const scratch = openScratchFile(join(folder, file), 'run_1');
      const slots: ComparedSlot[] = [];
      try {
        const result = await compareHistory(
          {
            run,
            scratch,
            history: historyOf(records, pages),
            lookups: topology.ports.codecs.lookup,
            pace: { afterPage: async () => undefined },
            comparing: {
              configurations: { before, after },
              book: narrowRuleBook(topology.ports.book, () => true),
              ids: topology.ids,
            },
            pageRecords: 2,
          },
          {
            progress: () => undefined,
            async slots(batch) {
              slots.push(...batch);
              return batch.map(() => 'none' as const);
            },
            lookups: async () => undefined,
          },
        );
        return { ...result, slots };
      } finally {
        scratch.close();
      }
    }

    const whole = await compare('whole');
    expect(whole.counts).toEqual({ ...NO_READ_COUNTS, events: ORDERS });
    expect(whole.slots).toHaveLength(3);
    for (let pages = 1; pages <= 2; pages += 1) {
      await expect(compare(`dies-${pages}`, pages)).rejects.toThrow('the process is dead');
      expect(await compare(`dies-${pages}`)).toEqual(whole);
    }
  });
});
