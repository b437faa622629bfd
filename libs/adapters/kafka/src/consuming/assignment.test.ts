import { setTimeout as pause } from 'node:timers/promises';
import { CarillonError } from '@carillon/kernel';
import type { ConsumeOptions } from '@carillon/ports';
import { expect, it, vi } from 'vitest';
import { startAssignment, type AssignmentSources } from './assignment.ts';

const sources: AssignmentSources = {
  fetching: { add: () => undefined, remove: () => undefined, wake: () => undefined, close: () => undefined },
  bounds: () => Promise.resolve({ start: 0, end: 0 }),
};

/** Tries so often to begin the partition, with this error each time. */
async function triesAfter(error: unknown): Promise<number> {
  const assigned = vi.fn<ConsumeOptions['assigned']>().mockRejectedValue(error);
  const failed = vi.fn<ConsumeOptions['failed']>();
  const options = { group: 'engine', topic: 'carillon.events', maxRecords: 1, maxBytes: 1, assigned, failed } as const;
  const nothingBefore = pause(0);
  const assignment = startAssignment(options, 0, sources, nothingBefore);
  const first = Date.now();
  // The second try of what is tried again comes after 100 ms.
  await vi.waitFor(() => expect(assigned.mock.calls.length > 1 || Date.now() - first > 500).toBe(true), 5_000);
  expect(failed).toHaveBeenCalled();
  await assignment.end();
  return assigned.mock.calls.length;
}

it('what passes is tried again', async () => {
  expect(await triesAfter(new Error('away'))).toBeGreaterThan(1);
});

it('a partition whose positions belong to another log stays stopped, also when that log has grown', async () => {
  expect(await triesAfter(new CarillonError('wrong_log', 'the checkpoint is beyond the end'))).toBe(1);
});
