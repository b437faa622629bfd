import { readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { loadavg } from 'node:os';
import { join } from 'node:path';
import { openEmbedded, type Embedded } from '@carillon/adapter-embedded';
import { createIds, systemClock } from '@carillon/adapter-system';
import { createRecordCodecs } from '@carillon/contracts';
import type { RunReports } from '@carillon/control';
import { CHANGED_BY_OWNER, streamTable, type Configuration } from '@carillon/domain/configuration';
import { OWNER_ACTOR } from '@carillon/domain/people';
import { MAX_FOUND_EVENTS, type CompareRun, type FindRun } from '@carillon/domain/runs';
import type { JobId, RunId } from '@carillon/kernel';
import { createConfigurationView, publishConfiguration } from '@carillon/stages';
import { changesOf, notification, ORDER_PAID, orderShop } from '@carillon/testing/given';
import { expect, it, onTestFinished } from 'vitest';
import { createRunChild } from '../../../apps/cli/src/replay/run-child.ts';
import { createCorpus, USERS, type OrderEvent } from '../corpus.ts';
import { eventRecord } from '../event-record.ts';
import { temporaryFolder } from '../temporary-folder.ts';

/*
 * One edited rule is compared over ten million events of 732 bytes, of which one in ten gives a row, and the same log is searched for a person
 * whom one event in 100,000 names. The memory of the child is bounded, and all counts are exact. CARILLON_COMPARED_EVENTS makes it shorter.
 */

const EVENTS = Number(process.env['CARILLON_COMPARED_EVENTS'] ?? 10_000_000);
const TIMEOUT_MS = 20 * 60_000;
const MAX_CHILD_MIB = 512;
const BATCH_SIZE = 10_000;
const MEMORY_LOOK_MS = 250;
const KEY = new Uint8Array(32).fill(7);
const ids = createIds(KEY);

/** The largest total of the corpus is below it. */
const OUT_OF_REACH = 1_000;
const LEAST = 449;
const orderOver = (least: number) =>
  notification('order-paid', {
    ...ORDER_PAID,
    rules: {
      paid: {
        stream: 'orders',
        when: `event.total > ${least}.0`,
        recipients: { from: 'event', to: { email: 'event.customer.email' }, unique_id: 'event_id' },
      },
    },
  });
const isAdded = ({ total }: OrderEvent): boolean => total > LEAST;

async function publish({ log, registry }: Embedded): Promise<Configuration> {
  const { configuration: codec } = await createRecordCodecs(registry, systemClock.now);
  const view = createConfigurationView(log, codec, systemClock);
  const ports = { log, codec, view, ids, clock: systemClock, readEverywhere: async () => undefined };
  const wishes = [...orderShop().filter(({ ref }) => ref.kind !== 'notification'), orderOver(OUT_OF_REACH)];
  await publishConfiguration(ports, changesOf(await view.refresh(), wishes), CHANGED_BY_OWNER);
  return view.current();
}

/** The person of the corpus who comes up least. */
const SOUGHT = `user-${USERS - 1}@example.com`;

/** What the edit adds, and the number of events that name the person who is searched for. */
type Expected = { readonly rows: number; readonly people: number; readonly found: number };

async function fill({ log }: Embedded, configuration: Configuration): Promise<Expected> {
  const orders = streamTable(configuration).streams.get('shop/orders');
  if (!orders) throw new Error('the stream is not configured');
  const partitions = log.partitions('carillon.events');
  const corpus = createCorpus();
  const people = new Set<string>();
  let rows = 0;
  let found = 0;
  for (let done = 0; done < EVENTS; done += BATCH_SIZE) {
    const events = Array.from({ length: Math.min(BATCH_SIZE, EVENTS - done) }, () => corpus.next());
    for (const { customer } of events.filter(isAdded)) {
      rows += 1;
      people.add(customer.email);
    }
    found += events.filter(({ customer }) => customer.email === SOUGHT).length;
    await log.append(events.map((event) => eventRecord(event, orders, partitions, ids)));
  }
  return { rows, people: people.size, found };
}

async function runsOver(
  { log }: Embedded,
  { number }: Configuration,
): Promise<{ readonly comparison: CompareRun; readonly search: FindRun }> {
  const offsets = [];
  for (let partition = 0; partition < log.partitions('carillon.events'); partition += 1) {
    const { start, end } = await log.bounds('carillon.events', partition);
    offsets.push({ partition, first: start, end });
  }
  const now = systemClock.now();
  const facts = {
    workspace: 'shop',
    by: OWNER_ACTOR,
    from: 0,
    to: now + 1,
    logStartsAt: null,
    logId: log.logId,
    offsets,
    published: number,
    progress: { read: 0, total: offsets.reduce((sum, { first, end }) => sum + end - first, 0) },
    counts: null,
    checksum: null,
    job: 'job_1' as JobId,
    createdAt: now,
    version: 1,
  } as const;
  return {
    comparison: {
      ...facts,
      id: ids.random('run') as RunId,
      kind: 'compare',
      before: number,
      changes: [],
      notifications: ['order-paid'],
      notCompared: [],
      leftOut: [],
    },
    search: { ...facts, id: ids.random('run') as RunId, kind: 'find', textHash: ids.keyed('text', 'shop', SOUGHT) },
  };
}

const formatLoad = (load: readonly number[]): string => load.map((average) => average.toFixed(1)).join(' ');

/** Largest resident memory that a process has had, in MiB. Null if it has ended. */
function largestMemoryOf(pid: number): number | null {
  try {
    const [, kibibytes] = /^VmHWM:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
    return kibibytes === undefined ? null : Number(kibibytes) / 1_024;
  } catch {
    return null;
  }
}

/** Looks at the memory of the children that compare until it is stopped. */
async function watchChildren(stop: AbortSignal): Promise<number> {
  let largest = 0;
  while (!stop.aborted) {
    const pids = readFileSync(`/proc/${process.pid}/task/${process.pid}/children`, 'utf8').split(' ').filter(Boolean);
    for (const pid of pids.map(Number)) largest = Math.max(largest, largestMemoryOf(pid) ?? 0);
    await pause(MEMORY_LOOK_MS);
  }
  return largest;
}

/** Resolves to what `work` returns, and to its seconds. */
async function timed<Value>(work: () => Promise<Value>): Promise<readonly [Value, number]> {
  const begun = performance.now();
  const value = await work();
  return [value, (performance.now() - begun) / 1_000];
}

it(
  'A comparison and a search of ten million events bound the memory of their child and count each row, person and event',
  async () => {
    const folder = await temporaryFolder();
    onTestFinished(() => folder.remove());
    const data = await openEmbedded({ dataDir: folder.path, clock: systemClock });
    const configuration = await publish(data);
    const [expected, filling] = await timed(() => fill(data, configuration));
    const { comparison, search } = await runsOver(data, configuration);
    await data.close();

    const runChild = createRunChild({
      source: { kind: 'embedded', dataDir: folder.path },
      folder: join(folder.path, 'runs'),
      ledgerKey: KEY,
      trouble: (_where, error) => console.error(error),
      watch: {
        ended: () => undefined,
        begin: () => ({ read: () => undefined, childEnded: () => undefined, end: () => undefined }),
      },
    });
    const over = new AbortController();
    const { signal: never } = new AbortController();
    const memory = watchChildren(over.signal);
    let rows = 0;
    const reports: RunReports<'compare'> = {
      begin: async () => void (rows = 0),
      progress: async () => undefined,
      async slots(slots) {
        rows += slots.length;
        return slots.map(() => 'none');
      },
      lookups: async () => undefined,
    };
    const edit = changesOf(configuration, [orderOver(LEAST)]);
    const [compared, comparing] = await timed(() => runChild.execute<'compare'>(comparison, { edit }, reports, never));
    const loadOfComparing = loadavg();
    const searched = { begin: async () => undefined, progress: async () => undefined };
    const [found, searching] = await timed(() =>
      runChild.execute<'find'>(search, { texts: [SOUGHT] }, searched, never),
    );
    over.abort();
    const childMiB = await memory;
    console.log(
      `${EVENTS} events filled in ${filling.toFixed(0)} s, compared in ${comparing.toFixed(0)} s (load ${formatLoad(loadOfComparing)}), ${rows} rows; ` +
        `searched in ${searching.toFixed(0)} s (load ${formatLoad(loadavg())}), ${found.counts.found} found; child ${childMiB.toFixed(0)} MiB`,
    );
    expect(compared.counts).toMatchObject({ events: EVENTS, unreadable: 0, pastRetention: 0 });
    expect({ rows, people: compared.people.people.added, found: found.counts.found }).toEqual(expected);
    expect(found.counts.events).toBe(EVENTS);
    expect(found.events).toHaveLength(Math.min(expected.found, MAX_FOUND_EVENTS));
    expect(childMiB).toBeLessThan(MAX_CHILD_MIB);
  },
  TIMEOUT_MS,
);
