import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openKafkaLog } from '@carillon/adapter-kafka';
import { createIds, systemClock } from '@carillon/adapter-system';
import { createRecordCodecs, type ErasureListBody, type ListedErasure } from '@carillon/contracts';
import { createEraser } from '@carillon/control';
import type { CohortMessage } from '@carillon/domain/cohorts';
import { createErasureMatcher, nameHash } from '@carillon/domain/erasures';
import { cohortRecord } from '@carillon/stages';
import type { EventId } from '@carillon/kernel';
import type { ErasureWork, LogRecord, NewRecord } from '@carillon/ports';
import { untilFound } from '@carillon/testing';
import { settingsFor, startClusterServices, type ClusterServices } from '@carillon/testing/cluster';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeWith } from '../../../../test/support/requirements.ts';
import { applyErasures } from './apply-erasures.ts';
import type { Backend } from './backend.ts';
import { openClusterBackend } from './cluster-backend.ts';
import { readSettings } from './settings.ts';

const TIMEOUT = 300_000;
const TOPIC = 'carillon.events';
const keyed = (...parts: readonly string[]): string => parts.join(' ');
const BOB = 'bob@example.com';
const text = (value: Uint8Array): string => new TextDecoder().decode(value);
const WORK: ErasureWork = {
  matcher: createErasureMatcher({ workspace: 'shop', hashes: [nameHash(BOB, keyed)] }, keyed),
  isOfPerson: () => false,
  isEntityOfPerson: () => false,
  isErasedEvent: () => false,
  judge: async ({ value }) => (text(value).includes(BOB) ? 'erased' : null),
};
const COHORT_MESSAGE: CohortMessage = {
  id: 'evt_c' as EventId,
  workspace: 'shop',
  integration: 'amplitude',
  cohort: 'c1',
  name: null,
  session: null,
  page: null,
  action: 'add',
  userIds: ['u-eve', 'u-ada', 'u-mal'],
  time: [1, 2, 3],
  skipped: 0,
  firstSync: 0,
};
const eventOf = (email: string): NewRecord => ({
  topic: TOPIC,
  partition: 0,
  key: 'k',
  value: new TextEncoder().encode(JSON.stringify({ email })),
  headers: { kind: 'event', enc: '0', workspace: 'shop', stream: 'shop/orders', event_id: 'evt_1' },
});

describeWith(['kafka', 'mongodb', 'registry'], 'An erasure on Kafka', () => {
  let services: ClusterServices;
  let one: Backend;
  let other: Backend;
  let offsets: readonly number[];
  const ends: (() => Promise<unknown>)[] = [];
  beforeAll(async () => {
    services = await startClusterServices();
    ends.push(() => services.stop());
    const folder = await mkdtemp(join(tmpdir(), 'carillon-erasure-'));
    ends.push(() => rm(folder, { recursive: true, force: true }));
    const settings = readSettings({ dataDir: folder }, settingsFor(services));
    const open = async (): Promise<Backend> => {
      if (!settings.cluster) throw new Error('no cluster');
      const silent = { kafkaSaid: () => undefined, fatal: () => undefined };
      const backend = await openClusterBackend(settings.cluster, {
        settings,
        clock: systemClock,
        holder: 'test',
        ...silent,
      });
      ends.push(() => backend.close());
      return backend;
    };
    one = await open();
    other = await open();
    offsets = await one.log.append([eventOf(BOB), eventOf('ada@example.com')]);
  }, TIMEOUT);
  afterAll(async () => {
    for (const end of ends.toReversed()) await end();
  }, TIMEOUT);

  const shown = async ({ log }: Pick<Backend, 'log'>): Promise<readonly string[]> =>
    (await log.read(TOPIC, 0, offsets[0] ?? 0, 2)).map(({ headers, value }) => `${headers['kind']} ${text(value)}`);
  const ADA = 'event {"email":"ada@example.com"}';

  it(
    'hides records from every reader of every process once it has ended, and leaves the bytes to retention',
    async () => {
      expect(await shown(other)).toEqual([`event {"email":"${BOB}"}`, ADA]);
      const eraser = createEraser(one.erasure);
      expect(await eraser.find(WORK)).toMatchObject({ counts: { log_records: 1 } });
      const until = await eraser.bytesUntil(0);
      expect(until).toBeGreaterThanOrEqual(31 * 86_400_000);
      const moment = { now: 1, derive: () => '' };
      (await eraser.pauseConsumers())();
      const erased = await eraser.erase(WORK, () => Number.POSITIVE_INFINITY, moment);
      expect(erased.counts).toEqual({ log_records: 1 });
      await eraser.finish();
      for (const backend of [one, other]) expect(await shown(backend)).toEqual(['erased ', ADA]);
      expect(await eraser.find(WORK)).toMatchObject({ counts: {} });
      const consumed: LogRecord[] = [];
      const consumption = await other.log.consume({
        group: 'test',
        topic: TOPIC,
        maxRecords: 10,
        maxBytes: 1_000_000,
        assigned: async () => ({
          from: 0,
          handle: async (records) => void consumed.push(...records),
          lost: async () => undefined,
        }),
        failed: () => undefined,
      });
      await untilFound('both events are consumed', () => (consumed.length >= 2 ? true : undefined));
      await consumption.stop();
      expect(consumed.map(({ value }) => text(value)).join('\n')).not.toContain(BOB);
      const raw = await openKafkaLog({ connection: { brokers: services.kafka.brokers, clientId: 'carillon-test' } });
      expect(await shown({ log: raw })).toEqual([`event {"email":"${BOB}"}`, ADA]);
      await raw.close();
    },
    TIMEOUT,
  );

  it(
    'applies a list to restored data while no role runs, also where two people of the list are in one record',
    async () => {
      const ids = createIds(Buffer.alloc(32, 1));
      const codecs = await createRecordCodecs(one.registry, systemClock.now);
      const entry = (id: string, name: string): ListedErasure => ({
        id,
        workspace: 'shop',
        hashes: [nameHash(name, (...parts) => ids.keyed(...parts))],
        job: 'job_1',
        reason: 'asked by letter',
        requested_by: { kind: 'person', id: 'per_1' },
        requested_by_name: 'owner',
        requested_at: '2026-11-30T00:00:00.000Z',
        erased_at: null,
        erased: { log_records: 1 },
      });
      const erasures = [entry('era_1', 'u-eve'), entry('era_2', 'u-mal')];
      const list: ErasureListBody = {
        format: 'carillon-erasures',
        log_id: one.log.logId,
        exported_at: '2026-11-30T00:00:00.000Z',
        erasures,
        checksum: '',
      };
      const written = cohortRecord(COHORT_MESSAGE, null, { ids, log: one.log, codecs });
      const [offset = 0] = await one.log.append([written]);
      const worker = await other.log.consume({
        group: 'engine',
        topic: 'carillon.cohorts',
        maxRecords: 10,
        maxBytes: 1_000_000,
        assigned: async () => ({ from: 0, handle: async () => undefined, lost: async () => undefined }),
        failed: () => undefined,
      });
      await expect(one.refuseRunningRoles()).rejects.toThrow('carillon.engine.cohorts (1)');
      await worker.stop();
      await one.refuseRunningRoles();
      await expect(applyErasures(one, { ...list, log_id: 'log_0' }, ids, systemClock)).rejects.toMatchObject({
        code: 'wrong_usage',
      });
      expect(await applyErasures(one, list, ids, systemClock)).toBe(2);
      const [record] = await other.log.read('carillon.cohorts', written.partition, offset, 1);
      expect(codecs.cohort.decode(record?.value ?? new Uint8Array())).toMatchObject({
        ok: true,
        value: { userIds: ['u-ada'], time: [2] },
      });
      const ended = await other.erasures.get('era_2');
      expect(ended).toMatchObject({ erasedAt: expect.any(Number) as unknown, hashes: erasures[1]?.hashes });
      expect(ended?.bytesUntil).toBeGreaterThan(Date.now());
      expect(await applyErasures(one, list, ids, systemClock)).toBe(0);
    },
    TIMEOUT,
  );
});
