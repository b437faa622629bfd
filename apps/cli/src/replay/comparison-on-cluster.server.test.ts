import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openEmbedded } from '@carillon/adapter-embedded';
import { ensureTopics, openKafkaLog } from '@carillon/adapter-kafka';
import { createSchemaRegistry } from '@carillon/adapter-schema-registry';
import { createRecordCodecs, TOPIC_DEFINITIONS } from '@carillon/contracts';
import type { ResourceChange } from '@carillon/domain/configuration';
import type { CompareRun, Finding, FindRun } from '@carillon/domain/runs';
import type { LogId } from '@carillon/kernel';
import type { Checkpoint, CheckpointStore, EventLog, SchemaRegistry } from '@carillon/ports';
import { planVerification, type ComparedSlot } from '@carillon/stages';
import { untilFound } from '@carillon/testing';
import { changesOf, givenIntent, ORDERS, stream } from '@carillon/testing/given';
import { forgetTopics } from '@carillon/testing/services';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeWith } from '../../../../test/support/requirements.ts';
import { sharedServer, takeTurn } from '../../../../test/support/shared-servers.ts';
import {
  appendOrders,
  children,
  EDITED,
  EVENTS,
  factsAt,
  scratchFileOf,
  startComparison,
  type ComparisonPlace,
  type LogWithOrders,
} from '../../test/comparison-fixture.ts';
import { createRunChild } from './run-child.ts';

const REGISTRY_PASSWORD = 'registry-password-of-the-test';
const clock = { now: () => Date.now() };

/** The engine has read all records. */
const ALL_EVALUATED: Pick<CheckpointStore, 'load'> = {
  load: async () => ({ next: Number.MAX_SAFE_INTEGER }) as Checkpoint,
};

/** Appends a message of a refunded order, which no rule gives. The last event of the partition cannot be read. */
async function appendOddIntent(log: EventLog, registry: SchemaRegistry): Promise<void> {
  const codecs = await createRecordCodecs(registry, clock.now);
  const { end } = await log.bounds('carillon.events', 0);
  const intent = { ...givenIntent('odd'), eventPosition: `carillon.events/0@${end - 2}` };
  const value = codecs.intent.encode(intent);
  await log.append([{ topic: 'carillon.intents', partition: 0, key: 'k', headers: {}, value }]);
}

describeWith(['kafka', 'registry'], 'A comparison of a log on Kafka', () => {
  const ends: (() => Promise<void> | void)[] = [];
  let folder = '';
  let orders: LogWithOrders;
  let place: ComparisonPlace;
  let edit: readonly ResourceChange[];
  /** The same history on the embedded backend. */
  let embedded: { readonly orders: LogWithOrders; readonly place: ComparisonPlace };

  let ports: Parameters<typeof planVerification>[2];
  let embeddedPorts: typeof ports;

  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), 'carillon-comparison-'));
    ends.push(() => rm(folder, { recursive: true, force: true }));
    const data = await openEmbedded({ dataDir: join(folder, 'data'), clock, partitions: 2 });
    ends.push(() => data.close());
    // On Kafka the id of the log is the first record of its configuration, so each change has a number one higher.
    const alike = await appendOrders(data, [[stream('spare', ORDERS)]]);
    embedded = {
      orders: alike,
      place: { source: { kind: 'embedded', dataDir: join(folder, 'data') }, folder: join(folder, 'runs') },
    };

    const { brokers } = await sharedServer('kafka');
    ends.push(await takeTurn('topics'));
    await forgetTopics(brokers, 'carillon.');
    const connection = { brokers, clientId: 'carillon-replay' };
    const freshLogId = () => 'log_0000000000000000000000000K' as LogId;
    await ensureTopics(connection, TOPIC_DEFINITIONS, { singleBroker: true, freshLogId });
    const log = await openKafkaLog({ connection });
    ends.push(() => log.close());
    const registry = { ...(await sharedServer('registry')), username: 'carillon', password: REGISTRY_PASSWORD };
    const schemas = createSchemaRegistry(registry);
    ends.push(() => schemas.close());
    orders = await appendOrders({ log, registry: schemas });
    edit = changesOf(orders.configuration, [EDITED]);
    embeddedPorts = { log: data.log, checkpoints: ALL_EVALUATED };
    ports = { log, checkpoints: ALL_EVALUATED };
    await Promise.all([appendOddIntent(data.log, data.registry), appendOddIntent(log, schemas)]);
    place = { source: { kind: 'kafka', connection, registry }, folder: join(folder, 'temporary') };
  });
  afterAll(async () => {
    for (const end of ends.toReversed()) await end();
  });

  /** A child that has compared a few pages and is under way. */
  const childUnderWay = (at: ComparisonPlace, run: CompareRun): Promise<number> =>
    untilFound('the child has written a few pages', async () => {
      const wal = await stat(`${scratchFileOf(at, run)}-wal`).catch(() => null);
      return (wal?.size ?? 0) > 100_000 ? (await children())[0] : undefined;
    });
  /** Without the positions, because the logs begin with other records. */
  const withoutPlace = (slots: readonly ComparedSlot[]) =>
    slots.map(({ position: _position, at: _at, ...slot }) => slot);

  it('comes to the rows and the checksum of the same history on the embedded backend', async () => {
    const run = await orders.newRun();
    const { comparing, heard } = startComparison(place, run, { edit });
    const result = await comparing;
    expect(result.counts).toMatchObject({ events: (EVENTS / 3) * 2, unreadable: 1, pastRetention: 0 });
    expect(heard.slots).toHaveLength((EVENTS / 3) * 2);
    expect(heard.recordsRead).toBe(run.progress.total);
    const other = startComparison(embedded.place, await embedded.orders.newRun(), { edit });
    expect(await other.comparing).toEqual(result);
    expect(withoutPlace(heard.slots)).toEqual(withoutPlace(other.heard.slots));
  });

  const PLACES = ['embedded', 'kafka'] as const;
  const at = (name: (typeof PLACES)[number]) =>
    name === 'kafka' ? { place, orders, ports } : { ...embedded, ports: embeddedPorts };
  /** Kills the child of a run at its first report. */
  function killOnce() {
    let kills = 0;
    return {
      kills: () => kills,
      report: async () => {
        const [pid] = kills === 0 ? await children() : [];
        if (pid === undefined) return;
        kills += 1;
        process.kill(pid, 'SIGKILL');
      },
    };
  }

  it('is verified as the same history on the embedded backend is, also after a kill', async () => {
    const verifyAt = async (name: (typeof PLACES)[number]) => {
      const { place: where, orders: history, ports: own } = at(name);
      const { before: _before, changes: _changes, notifications: _names, ...run } = await history.newRun();
      const plan = await planVerification(run.offsets, run, own);
      const { report, kills } = killOnce();
      const findings: Finding[] = [];
      const verified = await createRunChild({ ...factsAt(where), pageRecords: 5 }).execute<'verify'>(
        { ...run, ...plan, kind: 'verify', counts: null },
        null,
        {
          async begin() {
            findings.length = 0;
          },
          progress: name === 'kafka' ? report : async () => undefined,
          findings: async (batch) => void findings.push(...batch),
        },
        new AbortController().signal,
      );
      const kinds = Map.groupBy(findings, ({ problem, output }) => `${problem} ${output}`);
      return { ...verified, kills: kills(), found: [...kinds].map(([kind, { length }]) => `${length} ${kind}`) };
    };
    // One after the other, so that the child is the only one.
    const [alike, onKafka] = [await verifyAt('embedded'), await verifyAt('kafka')];
    expect(onKafka).toMatchObject({ kills: 1, counts: { problems: { missing: EVENTS / 3, no_cause: 1 } } });
    expect({ ...onKafka, kills: 0 }).toEqual(alike);
  });

  it('is searched as the same history on the embedded backend is', async () => {
    const found = await Promise.all(
      PLACES.map(async (name) => {
        const { place: where, orders: history } = at(name);
        const run = { ...(await history.newRun()), kind: 'find', textHash: 'h' } as unknown as FindRun;
        const { counts, events } = await createRunChild({ ...factsAt(where), pageRecords: 5 }).execute<'find'>(
          run,
          { texts: ['ada7@example.com', 'ada208@example.com'] },
          { begin: async () => undefined, progress: async () => undefined },
          new AbortController().signal,
        );
        return { counts, events: events.map(({ eventId }) => eventId).toSorted() };
      }),
    );
    const expected = { counts: { events: EVENTS + 1, found: 2 }, events: ['evt_208', 'evt_7'] };
    expect(found).toEqual([expected, expected]);
  });

  it('continues after its child was killed, starts over without its scratch file, and shows no secret of the cluster', async () => {
    const run = await orders.newRun();
    const begun = startComparison(place, run, { edit, pageRecords: 1 });
    const pid = await childUnderWay(place, run);
    const texts = await Promise.all(['cmdline', 'environ'].map((file) => readFile(`/proc/${pid}/${file}`, 'utf8')));
    expect(texts.join('\n')).not.toContain(REGISTRY_PASSWORD);
    expect((await stat(scratchFileOf(place, run))).mode & 0o077).toBe(0);
    process.kill(pid, 'SIGKILL');
    const result = await begun.comparing;
    expect(begun.heard.begun).toBe(2);
    expect(begun.heard.readAtBegin[1]).toBeGreaterThan(0);
    const elsewhere = startComparison({ ...place, folder: join(folder, 'another-machine') }, run, { edit });
    expect(await elsewhere.comparing).toEqual(result);
    expect(elsewhere.heard.readAtBegin).toEqual([0]);
    expect(begun.runChild.isOnDiskOfStores).toBe(false);
  });
});
