import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openEmbedded, type Embedded } from '@carillon/adapter-embedded';
import { createIds, systemClock } from '@carillon/adapter-system';
import type { ErasureListBody } from '@carillon/contracts';
import { nameHash, type Erasure } from '@carillon/domain/erasures';
import { CarillonError, type JobId } from '@carillon/kernel';
import type { Ids } from '@carillon/ports';
import { COLLECTIONS, createStores } from '@carillon/stores';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { applyErasures, applyErasuresToFolder } from './apply-erasures.ts';
import { readKeys } from './deployment-keys.ts';

const BOB = 'bob@example.com';

let dataDir: string;
let list: ErasureListBody;
let erasure: Erasure;
let ids: Ids;
const opened = async <Value>(work: (data: Embedded) => Promise<Value>): Promise<Value> => {
  const data = await openEmbedded({ dataDir, clock: systemClock, holder: 'test', collections: COLLECTIONS });
  try {
    return await work(data);
  } finally {
    await data.close();
  }
};
const apply = (changes: Partial<ErasureListBody> = {}): Promise<number> =>
  applyErasuresToFolder(dataDir, { ...list, ...changes }, {});
const kinds = (): Promise<readonly string[]> =>
  opened(async ({ log }) =>
    (await log.read('carillon.events', 0, 0, 10)).map(({ headers, value }) =>
      [headers['kind'], new TextDecoder().decode(value)].join(' '),
    ),
  );

beforeEach(async () => {
  dataDir = mkdtempSync(join(tmpdir(), 'carillon-apply-'));
  const logId = await opened(async ({ log }) => {
    const headers = { kind: 'event', enc: '0', workspace: 'shop', stream: 'shop/orders', event_id: 'evt_1' };
    const value = new TextEncoder().encode(JSON.stringify({ email: BOB }));
    await log.append([{ topic: 'carillon.events', partition: 0, key: 'k', value, headers }]);
    return log.logId;
  });
  ids = createIds((await readKeys(dataDir, {})).ledgerKey);
  erasure = {
    id: 'era_1',
    workspace: 'shop',
    hashes: [nameHash(BOB, (...parts) => ids.keyed(...parts))],
    job: 'job_1' as JobId,
    reason: 'asked by letter',
    by: { kind: 'person', id: 'per_1' },
    byName: 'owner',
    requestedAt: 1,
    erasedAt: null,
    erased: { log_records: 1 },
    version: 1,
  };
  list = {
    format: 'carillon-erasures',
    log_id: logId,
    exported_at: '2026-11-30T00:00:00.000Z',
    erasures: [
      {
        id: erasure.id,
        workspace: 'shop',
        hashes: [...erasure.hashes],
        job: 'job_1',
        reason: erasure.reason,
        requested_by: { kind: 'person', id: 'per_1' },
        requested_by_name: 'owner',
        requested_at: '2026-11-30T00:00:00.000Z',
        erased_at: '2026-11-30T00:00:01.000Z',
        erased: { log_records: 1 },
      },
    ],
    checksum: '',
  };
});
afterEach(() => rmSync(dataDir, { recursive: true, force: true }));

describe('A list of erasures applied to a data folder', () => {
  it('erases who is on the list, once', async () => {
    expect(await kinds()).toEqual([`event {"email":"${BOB}"}`]);
    expect(await apply()).toBe(1);
    expect(await kinds()).toEqual(['erased ']);
    expect(await apply()).toBe(0);
  });

  it('ends an erasure that was under way when the backup was made', async () => {
    await opened(({ documents }) => createStores(documents).erasures.insert(erasure));
    expect(await apply()).toBe(1);
    expect(await kinds()).toEqual(['erased ']);
    const stored = await opened(({ documents }) => createStores(documents).erasures.get(erasure.id));
    expect(stored).toMatchObject({ erasedAt: Date.parse('2026-11-30T00:00:01.000Z'), version: 2 });
  });

  it('keeps records written after an erasure that the backup already has as finished', async () => {
    await opened(({ documents }) => createStores(documents).erasures.insert({ ...erasure, erasedAt: 2 }));
    expect(await apply()).toBe(0);
    expect(await kinds()).toEqual([`event {"email":"${BOB}"}`]);
  });

  it('is applied again if the data file could not be rewritten', async () => {
    const full = new CarillonError('no_room', 'the disk is too full');
    await opened(async (data) => {
      const erasureSteps = { ...data.erasure, finish: () => Promise.reject(full) };
      const restored = { ...data, ...createStores(data.documents), erasure: erasureSteps };
      await expect(applyErasures(restored, list, ids, systemClock)).rejects.toBe(full);
    });
    expect(await apply()).toBe(1);
    expect(await apply()).toBe(0);
  });

  it('from another deployment is refused and changes nothing', async () => {
    await expect(apply({ log_id: 'log_0' })).rejects.toMatchObject({ code: 'wrong_usage' });
    expect(await kinds()).toEqual([`event {"email":"${BOB}"}`]);
  });

  it('does nothing if it is empty', async () => {
    expect(await apply({ erasures: [] })).toBe(0);
    expect(await kinds()).toEqual([`event {"email":"${BOB}"}`]);
  });
});
