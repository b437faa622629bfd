import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openScratchFile } from '@carillon/adapter-embedded';
import { foldConfiguration, type Configuration } from '@carillon/domain/configuration';
import type { CompareRun, ReadCounts } from '@carillon/domain/runs';
import type { LogId } from '@carillon/kernel';
import type { EventHistory, LogRecord, RecordCodecs } from '@carillon/ports';
import { narrowRuleBook, type ComparedSlot } from '@carillon/stages';
import { changesOf, givenIds, givenRuleBook, notification } from '@carillon/testing/given';
import { compareHistory } from '../../../apps/cli/src/replay/compare-history.ts';
import type { CaseRecord, RuleSpec } from '../../../libs/stages/test/evaluate/stateful/cases.ts';
import { baseWith, ruleBodyOf } from '../../../libs/stages/test/evaluate/stateful/product-run.ts';

/** A shop whose notification has these rules. Each message is of its rule and event. `grace`: as in a case. */
export function shopOf(rules: readonly RuleSpec[], grace: number | null): Configuration {
  const base = baseWith(grace);
  const bodies = rules.map((spec, index) => {
    const body = ruleBodyOf({ ...spec, isEnabled: true });
    return [`r${index}`, { ...body, recipients: { ...body.recipients, unique_id: 'trigger_id' } }] as const;
  });
  const wish = notification('n', { channels: { email: { template: 'mail' } }, rules: Object.fromEntries(bodies) });
  return foldConfiguration(base, { changes: changesOf(base, [wish]) }, base.number + 1).configuration;
}

/** Returns the records of a partition. An edit is a tick, because a comparison reads no markers. */
export const logOf = (records: readonly CaseRecord[], grace: number | null): readonly LogRecord[] =>
  records.map((record, offset) => {
    const facts = { topic: 'carillon.events', partition: 0, offset, time: record.at, key: '' } as const;
    const stream = { workspace: 'shop', stream: 'shop/orders' };
    if (record.holds === 'forget') {
      return { ...facts, headers: { kind: 'forget', ...stream, key: record.entity }, value: new Uint8Array() };
    }
    if (record.holds !== 'event') return { ...facts, headers: { kind: 'tick' }, value: new Uint8Array() };
    const { id, entity, body, time } = record;
    const place = { ...stream, event_id: id, key: entity, ...(grace !== null && { time: String(time) }) };
    return {
      ...facts,
      headers: { kind: 'event', enc: '0', ...place },
      value: new TextEncoder().encode(JSON.stringify(body)),
    };
  });

function historyOf(records: readonly LogRecord[]): EventHistory {
  return {
    logId: 'log_1' as LogId,
    partitions: () => 1,
    bounds: async () => ({ start: 0, end: records.length }),
    read: async (_topic: string, _partition: number, from: number, count: number) => records.slice(from, from + count),
    async *pages({ from, end }: { readonly from: number; readonly end: number }, size: number) {
      for (let at = from; at < end; at += size) {
        const next = Math.min(at + size, end);
        yield { records: records.slice(at, next), next, removed: 0 };
      }
    },
  } as unknown as EventHistory;
}

const unused = (name: string) => ({
  encode: () => {
    throw new Error(`${name} is not encoded here`);
  },
});

export type Comparison = {
  readonly records: readonly LogRecord[];
  readonly before: Configuration;
  readonly after: Configuration;
  /** The range, by offset and time. */
  readonly first: number;
  readonly from: number;
  readonly to: number;
  readonly pageRecords: number;
};

/** Compares with the loop of the child process and a scratch file. `dies`: commits after which the process dies, and begins again. */
export async function compareRules(
  { records, before, after, first, from, to, pageRecords }: Comparison,
  dies: readonly number[] = [],
) {
  const folder = mkdtempSync(join(tmpdir(), 'carillon-stateful-'));
  const run = {
    id: 'run_1',
    workspace: 'shop',
    from,
    to,
    createdAt: to,
    offsets: [{ partition: 0, first, end: records.length }],
    progress: { read: 0, total: records.length - first },
  } as unknown as CompareRun;
  try {
    for (const commits of [...dies, Number.POSITIVE_INFINITY]) {
      const scratch = openScratchFile(join(folder, 'run_1.scratch'), 'run_1');
      let left = commits;
      const slots: ComparedSlot[] = [];
      try {
        const { checksum, counts } = await compareHistory(
          {
            run,
            scratch: {
              ...scratch,
              // The checkpoint of this process is the one at its start.
              commit(page) {
                if (left === 0) throw new Error('the process is dead');
                left -= 1;
                scratch.commit(page);
              },
            },
            history: historyOf(records),
            lookups: unused('a lookup') as unknown as RecordCodecs['lookup'],
            deadLetters: unused('a dead letter') as unknown as RecordCodecs['deadLetter'],
            pace: { afterPage: async () => undefined },
            comparing: {
              configurations: { before, after },
              book: narrowRuleBook(givenRuleBook(), () => true),
              ids: givenIds,
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
        return { checksum, counts: counts satisfies ReadCounts, slots };
      } catch (error) {
        if (!(error instanceof Error) || error.message !== 'the process is dead') throw error;
      } finally {
        scratch.close();
      }
    }
    throw new Error('a comparison ends');
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
