import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { createIds } from '@carillon/adapter-system';
import { createRecordCodecs } from '@carillon/contracts';
import type { RunResult } from '@carillon/control';
import { CHANGED_BY_OWNER, type Configuration, type ResourceChange } from '@carillon/domain/configuration';
import { OWNER_ACTOR } from '@carillon/domain/people';
import type { CompareRun, MissingLookup } from '@carillon/domain/runs';
import type { JobId, RunId } from '@carillon/kernel';
import type { EventLog, SchemaRegistry } from '@carillon/ports';
import { createConfigurationView, publishConfiguration, type ComparedSlot } from '@carillon/stages';
import { changesOf, notification, ORDER_PAID, orderShop } from '@carillon/testing/given';
import { createRunChild, type RunChildFacts, type RunWatch } from '../src/replay/run-child.ts';

/** Orders on the log. Every third is paid, every third refunded, and the last third on a stream that no rule of the run reads. */
export const EVENTS = 300;
const PARTITIONS = 2;
const KEY = new Uint8Array(32).fill(7);
const clock = { now: () => Date.now() };
const ids = createIds(KEY);

/** The published rule fires for paid orders, and this one for refunded orders. */
export const EDITED = notification('order-paid', {
  ...ORDER_PAID,
  rules: {
    paid: {
      stream: 'orders',
      when: 'event.status == "refunded"',
      recipients: { from: 'event', to: { email: 'event.customer.email' }, unique_id: 'event.order_id' },
    },
  },
});

function orderEvent(index: number) {
  const status = ['paid', 'refunded', 'paid'][index % 3];
  const body = { order_id: `A-${index}`, status, customer: { name: 'Ada', email: `ada${index}@example.com` } };
  const headers = {
    kind: 'event',
    enc: '0',
    workspace: 'shop',
    stream: index % 3 === 2 ? 'shop/other' : 'shop/orders',
    event_id: `evt_${index}`,
  };
  const value = new TextEncoder().encode(JSON.stringify(body));
  return { topic: 'carillon.events', partition: index % PARTITIONS, key: `k${index}`, value, headers } as const;
}

export type LogWithOrders = {
  readonly configuration: Configuration;
  /** A run over all events that compares the published configuration with an edit. */
  readonly newRun: (facts?: Partial<CompareRun>) => Promise<CompareRun>;
};

/** Publishes the shop after `before`, and appends its orders and an event that names no stream. */
export async function appendOrders(
  { log, registry }: { readonly log: EventLog; readonly registry: SchemaRegistry },
  before: readonly Parameters<typeof changesOf>[1][] = [],
): Promise<LogWithOrders> {
  const codecs = await createRecordCodecs(registry, clock.now);
  const view = createConfigurationView(log, codecs.configuration, clock);
  const ports = { log, codec: codecs.configuration, view, ids, clock, readEverywhere: async () => undefined };
  for (const desired of [...before, orderShop()]) {
    await publishConfiguration(ports, changesOf(await view.refresh(), desired), CHANGED_BY_OWNER);
  }
  const configuration = view.current();
  await log.append(Array.from({ length: EVENTS }, (_, index) => orderEvent(index)));
  const { headers, ...event } = orderEvent(EVENTS);
  await log.append([{ ...event, headers: { ...headers, stream: '' } }]);
  return {
    configuration,
    async newRun(facts = {}) {
      const offsets = [];
      for (let partition = 0; partition < PARTITIONS; partition += 1) {
        const { start, end } = await log.bounds('carillon.events', partition);
        offsets.push({ partition, first: start, end });
      }
      const now = clock.now();
      return {
        id: ids.random('run') as RunId,
        workspace: 'shop',
        kind: 'compare',
        by: OWNER_ACTOR,
        from: 0,
        to: now + 1000,
        logStartsAt: null,
        logId: log.logId,
        offsets,
        before: configuration.number,
        published: configuration.number,
        changes: [],
        notifications: ['order-paid'],
        notCompared: [],
        leftOut: [],
        progress: { read: 0, total: offsets.reduce((sum, { first, end }) => sum + end - first, 0) },
        counts: null,
        checksum: null,
        job: 'job_1' as JobId,
        createdAt: now,
        version: 1,
        ...facts,
      };
    },
  };
}

export type Heard = {
  slots: ComparedSlot[];
  lookups: MissingLookup[];
  begun: number;
  reads: number[];
  readAtBegin: number[];
  troubles: string[];
  /** Sum of the records that the metrics are told. */
  recordsRead: number;
  /** The other facts that the metrics are told: `child ended`, `done`. */
  watched: string[];
};

export const watchOf = (heard?: Heard): RunWatch => ({
  ended: () => undefined,
  begin: () => ({
    read(records) {
      if (heard) heard.recordsRead += records;
    },
    childEnded: () => void heard?.watched.push('child ended'),
    end: (result) => void heard?.watched.push(result),
  }),
});

export type ComparisonPlace = Pick<RunChildFacts, 'source' | 'folder'>;

export const factsAt = (place: ComparisonPlace, heard?: Heard): RunChildFacts => ({
  ...place,
  ledgerKey: KEY,
  trouble: (where, error) => void heard?.troubles.push(`${where}: ${String(error)}`),
  watch: watchOf(heard),
});

/** Begins a comparison with a real child. */
export function startComparison(
  place: ComparisonPlace,
  run: CompareRun,
  { pageRecords, edit }: { readonly pageRecords?: number | undefined; readonly edit: readonly ResourceChange[] },
) {
  const heard: Heard = {
    slots: [],
    lookups: [],
    begun: 0,
    reads: [],
    readAtBegin: [],
    troubles: [],
    recordsRead: 0,
    watched: [],
  };
  const stop = new AbortController();
  const runChild = createRunChild({ ...factsAt(place, heard), pageRecords });
  const comparing: Promise<RunResult<'compare'>> = runChild.execute<'compare'>(
    run,
    { edit },
    {
      async begin() {
        heard.slots = [];
        heard.lookups = [];
        heard.begun += 1;
      },
      async progress({ read }) {
        heard.reads.push(read);
        if (heard.readAtBegin.length < heard.begun) heard.readAtBegin.push(read);
      },
      async slots(slots) {
        heard.slots.push(...slots);
        return slots.map(() => 'notified');
      },
      async lookups(lookups) {
        heard.lookups.push(...lookups);
      },
    },
    stop.signal,
  );
  return { runChild, comparing, heard, stop };
}

/** The child processes of this process that compare. */
export async function children(): Promise<readonly number[]> {
  const text = await readFile(`/proc/${process.pid}/task/${process.pid}/children`, 'utf8');
  const pids = text.split(' ').filter((pid) => pid !== '');
  const commands = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '')));
  return pids.map(Number).filter((_, index) => commands[index]?.includes('replay/child.ts'));
}

export const scratchFileOf = ({ folder }: ComparisonPlace, run: CompareRun): string =>
  join(folder, `${run.id}.scratch`);
