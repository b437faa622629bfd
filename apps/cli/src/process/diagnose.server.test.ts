import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { systemClock } from '@carillon/adapter-system';
import type { Check } from '@carillon/control';
import { emptyHead } from '@carillon/domain/digests';
import { formatInstant } from '@carillon/kernel';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { Backend } from './backend.ts';
import { diagnose } from './diagnose.ts';
import { openKeys, type Keys } from './deployment-keys.ts';
import { openEmbeddedBackend } from './embedded-backend.ts';
import { readSettings } from './settings.ts';

let folder: string;
let backend: Backend;
let keys: Keys;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'carillon-diagnose-'));
  const settings = readSettings({ dataDir: folder }, {});
  const silent = { kafkaSaid: () => undefined, fatal: () => undefined };
  backend = await openEmbeddedBackend({ settings, clock: systemClock, holder: 'test', ...silent });
  keys = await openKeys(settings, {}, backend);
});
afterEach(async () => {
  await backend.close();
  await rm(folder, { recursive: true, force: true });
});

const never = (): Promise<never> => new Promise(() => undefined);
const away = (step: string) => async (): Promise<readonly Check[]> => [{ step, ok: false, detail: 'no answer' }];
const names = (steps: readonly Check[], ok: boolean): readonly string[] =>
  steps.filter((one) => one.ok === ok).map(({ step }) => step);
const LAG = [
  'engine on carillon.events',
  'engine on carillon.triggers',
  'engine on carillon.lookups',
  'engine on carillon.cohorts',
  'delivery on carillon.intents',
  'delivery on carillon.receipts',
  'delivery on carillon.consents',
  'control on carillon.events',
  'control on carillon.outcomes',
  'control on carillon.evaluations',
  'control on carillon.dead-letters',
  'sending',
];

describe('doctor', () => {
  it('reports success if everything works', async () => {
    const steps = await diagnose(backend, keys, systemClock);
    expect(names(steps, false)).toEqual([]);
    expect(names(steps, true)).toEqual([
      'data file',
      'data pages',
      'free disk',
      'retention',
      'keys',
      'digests',
      'in doubt',
      ...LAG,
      'clock',
    ]);
  });

  it('skips dependencies known to be unavailable, and checks all others', async () => {
    const noLog = { ...backend, checks: away('Kafka'), log: { ...backend.log, bounds: never } };
    const noStores = {
      ...backend,
      checks: away('database'),
      ledger: { ...backend.ledger, countByState: never },
      configurationStore: { ...backend.configurationStore, identity: never },
      checkpoints: { ...backend.checkpoints, load: never },
    };
    const [log, stores] = [await diagnose(noLog, keys, systemClock), await diagnose(noStores, keys, systemClock)];
    expect([names(log, false), names(log, true)]).toEqual([['Kafka'], ['keys', 'digests', 'in doubt', 'clock']]);
    expect([names(stores, false), names(stores, true)]).toEqual([['database'], ['clock']]);
  });

  it('returns even if a check hangs or throws', async () => {
    const silent = {
      ...backend,
      log: { ...backend.log, bounds: never },
      ledger: { ...backend.ledger, countByState: () => Promise.reject(new Error('the store is away')) },
    };
    const steps = await diagnose(silent, keys, systemClock);
    expect(names(steps, false)).toEqual(['in doubt', ...LAG]);
    expect(steps.find(({ step }) => step === 'in doubt')?.detail).toBe('the store is away');
  });

  it('counts overdue digest windows, with the time of the oldest', async () => {
    const due = async (name: string, closesAt: number): Promise<void> => {
      const slot = { workspace: 'shop', notificationId: 'ntf', channel: 'email', uniqueId: '' } as const;
      const item = { deliveryId: 'dlv_1', token: 't', intentId: 'int_1', size: 1 } as never;
      const head = { ...emptyHead(name, slot), version: 1, items: [item], end: { closesAt, slide: null } };
      expect(await backend.digestHeads.replace(head)).toBe('done');
    };
    const now = systemClock.now();
    await due('young', now - 30_000);
    const said = async () => (await diagnose(backend, keys, systemClock)).find(({ step }) => step === 'digests');
    expect(await said()).toMatchObject({ ok: true, detail: 'no window is overdue' });
    await due('old', now - 3_600_000);
    await due('older', now - 7_200_000);
    const steps = await said();
    expect(steps?.ok).toBe(false);
    expect(steps?.detail).toMatch(/^2 windows of digests are overdue, the first since /);
    expect(steps?.detail).toContain(formatInstant(now - 7_200_000));
  });

  it('succeeds while receipts are read as fast as they arrive, and fails if reading has stopped', async () => {
    const isReported = (topic: string, partition: number): boolean => topic === 'carillon.receipts' && partition === 0;
    const { log, checkpoints } = backend;
    let next = 0;
    const reported = (step: number): Backend => ({
      ...backend,
      log: {
        ...log,
        bounds: async (topic, partition) =>
          isReported(topic, partition) ? { start: 0, end: next + 300 } : log.bounds(topic, partition),
      },
      checkpoints: {
        ...checkpoints,
        load: async (group, topic, partition) => {
          if (!isReported(topic, partition)) return checkpoints.load(group, topic, partition);
          next += step;
          return { group, topic, partition, logId: log.logId, next, watermark: 0, configNumber: -1 };
        },
      },
    });
    const sending = async (step: number): Promise<Check | undefined> =>
      (await diagnose(reported(step), keys, systemClock)).find((one) => one.step === 'sending');
    expect(await sending(1)).toMatchObject({ ok: true });
    expect(await sending(0)).toMatchObject({
      ok: false,
      detail:
        '300 records of carillon.consents and carillon.receipts are unread: a delivery role that starts now sends nothing until it has read them; its log has the cause',
    });
  });
});
