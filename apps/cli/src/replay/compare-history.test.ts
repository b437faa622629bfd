import { mkdtempSync } from 'node:fs';
import { rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openScratchFile } from '@carillon/adapter-embedded';
import { foldConfiguration, type RuleBody } from '@carillon/domain/configuration';
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
function historyOf(
  records: readonly LogRecord[],
  { pages = Number.POSITIVE_INFINITY, start = 0 }: Pick<Dying, 'pages' | 'start'>,
): EventHistory {
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
        const kept = records.slice(at, next).filter(({ offset }) => offset >= start);
        yield { records: kept, next, removed: next - at - kept.length };
      }
    },
  } as unknown as EventHistory;
}

const { paid } = ORDER_PAID.rules;
if (!paid) throw new Error('there is a rule');
const bodyOf = (rule: Partial<RuleBody>) => ({ ...ORDER_PAID, rules: { paid: { ...paid, ...rule } } });
const event = (total: number, more: object = {}) =>
  topology.event({ order_id: `order-${total}`, total, customer: { name: 'Ada', email: 'ada@example.com' }, ...more });

/** Publishes a rule, appends events, and returns a function that compares an edit of the rule over them. */
async function given(rule: Partial<RuleBody>, edited: Partial<RuleBody>, appendEvents: () => Promise<unknown>) {
  await topology.publish(...orderShop(bodyOf(rule)));
  await appendEvents();
  const before = topology.ports.configuration.current();
  const changes = changesOf(before, [notification('order-paid', bodyOf(edited))]);
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

  return async (file: string, { pages, start, pageRecords = 2, commits = Number.POSITIVE_INFINITY }: Dying = {}) => {
    const scratch = openScratchFile(join(folder, file), 'run_1');
    const slots: ComparedSlot[] = [];
    const committed: number[] = [];
    try {
      const result = await compareHistory(
        {
          run,
          scratch: {
            ...scratch,
            commit(page) {
              if (committed.length === commits) throw new Error('the process is dead');
              committed.push(page.lines?.length ?? 0);
              scratch.commit(page);
            },
          },
          history: historyOf(records, { pages, start }),
          lookups: topology.ports.codecs.lookup,
          deadLetters: topology.ports.codecs.deadLetter,
          pace: { afterPage: async () => undefined },
          comparing: {
            configurations: { before, after },
            book: narrowRuleBook(topology.ports.book, () => true),
            ids: topology.ids,
          },
          pageRecords,
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
      return { result: { ...result, slots }, committed };
    } finally {
      scratch.close();
    }
  };
}

/** When the process of a comparison dies, and what it reads. */
type Dying = {
  readonly pages?: number | undefined;
  readonly pageRecords?: number;
  readonly commits?: number;
  /** First offset that retention has kept. */
  readonly start?: number | undefined;
};

describe('A comparison whose process dies after a page', () => {
  it('has the same checksum, counts and slots as an uninterrupted one', async () => {
    const compare = await given({ when: 'event.total > 100' }, { when: 'event.total > 80' }, async () => {
      for (let id = 0; id < ORDERS; id += 1) await event(90 + 5 * id);
    });
    const { result: whole } = await compare('whole');
    expect(whole.counts).toEqual({ ...NO_READ_COUNTS, events: ORDERS });
    expect(whole.slots).toHaveLength(3);
    for (let pages = 1; pages <= 2; pages += 1) {
      await expect(compare(`dies-${pages}`, { pages })).rejects.toThrow('the process is dead');
      expect((await compare(`dies-${pages}`)).result).toEqual(whole);
    }
  });
});

describe('A comparison of a log whose oldest events retention removes meanwhile', () => {
  it('counts them, and compares the others', async () => {
    const compare = await given({ when: 'event.total > 100' }, { when: 'event.total > 80' }, async () => {
      for (let id = 0; id < ORDERS; id += 1) await event(90 + 5 * id);
    });
    const { result: whole } = await compare('whole');
    const first = 2;
    // The marker comes before the events.
    const { result: cut } = await compare('cut', { start: first + 1 });
    expect(cut.counts).toEqual({ ...whole.counts, events: ORDERS - first, pastRetention: first + 1 });
    expect(cut.slots).toHaveLength(1);
  });
});

describe('A page of events with many recipients', () => {
  it('is committed in parts, and continues between them', async () => {
    const [events, recipients] = [22, 500];
    const emails = Array.from({ length: recipients }, (_, index) => ({ email: `ada${index}@example.com` }));
    const each = {
      recipients: { from: 'event', for_each: 'event.items', to: { email: 'item.email' }, unique_id: 'event_id' },
    } as const;
    const compare = await given({ ...each, when: 'false' }, { ...each, when: 'true' }, async () => {
      for (let id = 0; id < events; id += 1) await event(id, { items: emails });
    });
    const pageRecords = 100;
    const { result: whole, committed } = await compare('parts', { pageRecords });
    expect(whole.counts).toEqual({ ...NO_READ_COUNTS, events });
    expect(whole.slots).toHaveLength(events * recipients);
    expect(Math.max(...committed)).toBe(10_000);
    await expect(compare('dies', { pageRecords, commits: 2 })).rejects.toThrow('the process is dead');
    expect((await compare('dies', { pageRecords })).result).toEqual(whole);
  });
});
