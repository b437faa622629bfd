import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openEmbedded, type Embedded } from '@carillon/adapter-embedded';
import { systemClock } from '@carillon/adapter-system';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { refuseShorterLog } from './log-positions.ts';

let folder: string;
let data: Embedded;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'carillon-care-'));
  data = await openEmbedded({ dataDir: folder, clock: systemClock });
});
afterEach(async () => {
  await data.close();
  await rm(folder, { recursive: true, force: true });
});

const readUpTo = (next: number) =>
  data.checkpoints.save({
    group: 'engine',
    topic: 'carillon.events',
    partition: 3,
    logId: data.log.logId,
    next,
    watermark: 0,
    configNumber: -1,
  });

describe('A start', () => {
  it('takes positions that the log has', async () => {
    await data.log.append([
      { topic: 'carillon.events', partition: 3, key: 'k', value: new Uint8Array([1]), headers: {} },
    ]);
    await readUpTo(1);
    await expect(refuseShorterLog(data)).resolves.toBeUndefined();
  });

  it('is refused if the log ends before a stored read position, so that acknowledged events are not skipped', async () => {
    await readUpTo(500);
    await expect(refuseShorterLog(data)).rejects.toMatchObject({
      code: 'wrong_log',
      detail: expect.stringContaining('engine had read carillon.events/3 up to 500, and it ends at 0') as string,
    });
  });
});
