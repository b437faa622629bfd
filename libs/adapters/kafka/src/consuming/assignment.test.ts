import { setTimeout as pause } from 'node:timers/promises';
import { CarillonError, type Duration } from '@carillon/kernel';
import type { ConsumeOptions } from '@carillon/ports';
import { expect, it, vi } from 'vitest';
import { startAssignment, type AssignmentSources } from './assignment.ts';

const sources: AssignmentSources = {
  fetching: { add: () => undefined, remove: () => undefined, wake: () => undefined, close: () => undefined },
  bounds: () => Promise.resolve({ start: 0, end: 0 }),
};

/** Tries so often to begin the partition within a time, with this error each time, and says so of its standing still. */
async function triesAfter(
  error: unknown,
  isEnough: (tries: number, span: Duration) => boolean,
): Promise<{ readonly tries: number; readonly said: readonly string[] }> {
  const assigned = vi.fn<ConsumeOptions['assigned']>().mockRejectedValue(error);
  const failed = vi.fn<ConsumeOptions['failed']>();
  const said: string[] = [];
  const options: ConsumeOptions = {
    group: 'engine',
    topic: 'carillon.events',
    maxRecords: 1,
    maxBytes: 1,
    assigned,
    failed,
    stopped(partition) {
      said.push(`${partition} stands still`);
      return () => said.push(`${partition} left`);
    },
  };
  const nothingBefore = pause(0);
  const assignment = startAssignment(options, 0, sources, nothingBefore);
  const first = Date.now();
  await expect.poll(() => isEnough(assigned.mock.calls.length, Date.now() - first)).toBe(true);
  expect(failed).toHaveBeenCalled();
  said.push('the end');
  await assignment.end();
  return { tries: assigned.mock.calls.length, said };
}

it('taking over a partition is retried after a transient error', async () => {
  const { tries, said } = await triesAfter(new Error('away'), (made) => made > 1);
  expect(tries).toBeGreaterThan(1);
  expect(said).toEqual(['the end']);
});

it('a partition whose stored position belongs to another log stays stopped with the reason, even after that log has grown', async () => {
  const { tries, said } = await triesAfter(
    new CarillonError('wrong_log', 'the checkpoint is beyond the end'),
    // The second try of what is tried again comes after 100 ms.
    (_, span) => span > 500,
  );
  expect(tries).toBe(1);
  expect(said).toEqual(['0 stands still', 'the end', '0 left']);
});
