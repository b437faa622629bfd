import type { ReadChange } from '@carillon/domain/changes';
import { OWNER_ACTOR } from '@carillon/domain/people';
import type { StoredSource } from '@carillon/ports';
import { Progress } from '@carillon/runtime';
import { integration, stream } from '@carillon/testing/given';
import { openTopology, untilFound, type Topology } from '@carillon/testing/topology';
import { afterEach, beforeEach, expect } from 'vitest';
import type { SourceFacts, SourcePorts } from '../../src/sources/source-ports.ts';
import { startSources, type SourceReaders } from '../../src/sources/sources.ts';
import { createScriptedSources, positionAt, type OpenedReader } from './scripted-sources.ts';

export const REF = { workspace: 'shop', integration: 'shop-db' };
export const TIMING = { roundMs: 5, firstPauseMs: 5, longestPauseMs: 20, reportMs: 10_000, leaseMs: 10_000 };
export const REPORT = { tables: [{ table: 'public.orders', since: 1, problem: null }], lagBytes: 7 };

export let topology: Topology;
export let database: ReturnType<typeof createScriptedSources>;
export let troubles: unknown[];
export let facts: Map<string, SourceFacts>;
export let counts: string[];
export let engines: SourceReaders[];

/** Opens everything anew for each test. Called by each file of tests, because files of a worker share this module. */
export function openForEachTest(): void {
  beforeEach(async () => {
    topology = await openTopology({ partitions: 2, secrets: { SHOP_DB: 'postgres://shop' } });
    database = createScriptedSources();
    troubles = [];
    facts = new Map();
    counts = [];
    engines = [];
  });
  afterEach(async () => {
    await Promise.all(engines.splice(0).map((engine) => engine.stop()));
    await topology.close();
  });
}

export function start(more: Partial<SourcePorts> = {}): SourceReaders {
  const engine = startSources(
    {
      ...topology.ports,
      sources: topology.data.sources,
      changeSources: database.load,
      topicSources: () => Promise.reject(new Error('no topics are read here')),
      avroSchemas: () => Promise.reject(new Error('no schemas are read here')),
      progress: new Progress(),
      watch: {
        trouble: (_where, error) => void troubles.push(error),
        sourceState: (name, fact) => void facts.set(name, fact),
        sourceLeft: (name) => void facts.delete(name),
        sourceChanges: (_name, result, count) => void counts.push(`${result} ${count}`),
        sourceReset: (_name, detail) => void counts.push(`reset: ${detail}`),
      },
      ...more,
    },
    TIMING,
  );
  engines.push(engine);
  return engine;
}
export const publish = (tables: Readonly<Record<string, string>> = { 'public.orders': 'event.id' }) =>
  topology.publish(
    integration('shop-db', { kind: 'postgres', url: { secret: 'SHOP_DB' } }),
    stream('orders', { from: { integration: 'shop-db', tables } }),
  );
export const remove = () => topology.publish(stream('orders', null), integration('shop-db', null));
export const reader = (number = 1): Promise<OpenedReader> =>
  untilFound(`reader ${number}`, () => database.readers[number - 1]);
export const stored = () => topology.data.sources.load(REF);
export const untilStored = (what: string, fits: (source: StoredSource) => boolean): Promise<StoredSource> =>
  untilFound(what, async () => {
    const source = await stored();
    return source !== null && fits(source) ? source : undefined;
  });
export const inState = (state: string) => untilStored(state, (source) => source.state.kind === state);
export const change = (id: number | null): ReadChange => ({
  change: {
    op: 'create',
    event: { id },
    previous: null,
    unknown: [],
    source: {
      integration: 'shop-db',
      table: 'public.orders',
      tx: 1,
      position: `0/1:${id}`,
      at: '2026-11-28T06:30:00Z',
    },
  },
  identity: [String(id)],
});
export const events = async () =>
  (await topology.records('carillon.events')).filter(({ headers }) => headers['kind'] === 'event');
export async function read(from: OpenedReader): Promise<void> {
  from.handlers.report(REPORT);
  await from.handlers.take({ changes: [], position: positionAt('0/100') });
}
export async function requestReset(gone = false): Promise<void> {
  const source = await stored();
  const request = { by: OWNER_ACTOR, reason: 'looked', at: 1, from: source?.position ?? null, gone };
  expect(await topology.data.sources.requestReset(REF, source?.version ?? 0, request)).toBe('done');
}
