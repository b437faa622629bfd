import { join } from 'node:path';
import { newJob, reported, taken, type Job } from '@carillon/domain/jobs';
import type { JobId } from '@carillon/kernel';
import { COLLECTIONS, createStores } from '@carillon/stores';
import { MORNING } from '@carillon/testing/given';
import { afterAll, expect, it } from 'vitest';
import { openEmbedded, restoreBackup } from '../src/index.ts';
import { temporaryFolder, wallClock } from './open-embedded.ts';

const folder = temporaryFolder();
afterAll(() => folder.remove());

const job = (id: string): Job =>
  newJob(
    {
      id: id as JobId,
      workspace: 'shop',
      work: { action: 'resend_deliveries' },
      by: { kind: 'person', id: 'per_ada' },
      byName: 'per_ada',
      from: { address: null, userAgent: null },
      requestId: 'req_1',
      of: 2,
    },
    MORNING,
  );

it('a restore ends the jobs that were running, and does not change jobs that had ended', async () => {
  const at = (name: string): string => join(folder.path, name);
  const data = await openEmbedded({ dataDir: at('data'), clock: wallClock });
  await data.configurationStore.identity({ logId: data.log.logId, keyFingerprint: 'finger' });
  const { jobs } = createStores(data.documents);
  const over = reported(job('job_over'), [null, null], MORNING, null);
  await jobs.insert(job('job_waits'), ['one', 'two']);
  await jobs.insert(taken(job('job_runs'), 'runner', MORNING, Number.MAX_SAFE_INTEGER), ['one', 'two']);
  await jobs.insert(over, ['one', 'two']);
  await data.backup(at('copy.backup'));
  await data.close();
  const moment = { now: MORNING + 1, derive: (...parts: readonly string[]) => parts.join('/') };
  await restoreBackup(at('copy.backup'), at('new'), { moment, collections: COLLECTIONS, readers: [] });
  const restored = await openEmbedded({ dataDir: at('new'), clock: wallClock });
  const after = createStores(restored.documents);
  expect(await after.jobs.unfinished(10)).toEqual([]);
  for (const id of ['job_waits', 'job_runs']) {
    expect(await after.jobs.get(id as JobId)).toMatchObject({
      state: 'cancelled',
      endedAt: MORNING + 1,
      cancelledBy: { kind: 'system' },
      holder: null,
    });
  }
  expect(await after.jobs.get(over.id)).toEqual(over);
  await restored.close();
});
