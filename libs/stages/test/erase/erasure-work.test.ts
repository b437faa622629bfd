import { createErasureMatcher } from '@carillon/domain/erasures';
import { CarillonError, type LogId } from '@carillon/kernel';
import { createErasureWork, markerRecord } from '@carillon/stages';
import { expect, it } from 'vitest';

it('an erasure rejects if it cannot read the configuration of a marker, because events of the person could be missed', async () => {
  const keyed = (...parts: readonly string[]): string => JSON.stringify(parts);
  const unread = new CarillonError('log_unavailable', 'carillon.config has no record 4');
  const work = createErasureWork(createErasureMatcher({ workspace: 'shop', hashes: [] }, keyed), {
    log: { logId: 'log_1' as LogId },
    configuration: { current: () => ({}) as never, at: () => Promise.reject(unread) },
    codecs: {} as never,
    book: {} as never,
  });
  const marker = { ...markerRecord(0, 4), offset: 7, time: 1 };
  await expect(work.judge(marker)).rejects.toBe(unread);
});
