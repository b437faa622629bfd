import { mkdtemp, readFile, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openEmbedded } from '@carillon/adapter-embedded';
import { ensureTopics, openKafkaLog } from '@carillon/adapter-kafka';
import { createSchemaRegistry } from '@carillon/adapter-schema-registry';
import { TOPIC_DEFINITIONS } from '@carillon/contracts';
import type { ResourceChange } from '@carillon/domain/configuration';
import type { CompareRun } from '@carillon/domain/runs';
import type { LogId } from '@carillon/kernel';
import type { ComparedSlot } from '@carillon/stages';
import { untilFound } from '@carillon/testing';
import { changesOf, ORDERS, stream } from '@carillon/testing/given';
import { forgetTopics } from '@carillon/testing/services';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeWith } from '../../../../test/support/requirements.ts';
import { sharedServer, takeTurn } from '../../../../test/support/shared-servers.ts';
import {
  appendOrders,
  children,
  EDITED,
  EVENTS,
  scratchFileOf,
  startComparison,
  type ComparisonPlace,
  type LogWithOrders,
} from '../../test/comparison-fixture.ts';

const REGISTRY_PASSWORD = 'registry-password-of-the-test';
const clock = { now: () => Date.now() };

describeWith(['kafka', 'registry'], 'A comparison of a log on Kafka', () => {
  const ends: (() => Promise<void> | void)[] = [];
  let folder = '';
  let orders: LogWithOrders;
  let place: ComparisonPlace;
  let edit: readonly ResourceChange[];
  /** The same history on the embedded backend. */
  let embedded: { readonly orders: LogWithOrders; readonly place: ComparisonPlace };

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
  const alike = (slots: readonly ComparedSlot[]) => slots.map(({ position: _position, at: _at, ...slot }) => slot);

  it('comes to the rows and the checksum of the same history on the embedded backend', async () => {
    const run = await orders.newRun();
    const { comparing, heard } = startComparison(place, run, { edit });
    const result = await comparing;
    expect(result.counts).toMatchObject({ events: (EVENTS / 3) * 2, unreadable: 1, pastRetention: 0 });
    expect(heard.slots).toHaveLength((EVENTS / 3) * 2);
    expect(heard.recordsRead).toBe(run.progress.total);
    const other = startComparison(embedded.place, await embedded.orders.newRun(), { edit });
    expect(await other.comparing).toEqual(result);
    expect(alike(heard.slots)).toEqual(alike(other.heard.slots));
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
