import { setImmediate as nextTurn } from 'node:timers/promises';
import type { NewRecord } from '@carillon/ports';
import { untilFound } from '@carillon/testing';
import { describe, expect, it } from 'vitest';
import { createPacedSink, Progress } from '../src/index.ts';

const FOR_EVER = 1_000_000;
const topic = 'carillon.events' as const;
const PARTITIONS = 2;

/** A log that remembers how many were appended at once. */
function sinkOver(progress: Progress) {
  const appended: number[] = [];
  const ends = [0, 0];
  const sink = createPacedSink(
    {
      async append(records) {
        appended.push(records.length);
        return records.map(({ partition }) => (ends[partition] = (ends[partition] ?? 0) + 1) - 1);
      },
    },
    { topic, progress },
  );
  const records = (count: number): NewRecord[] =>
    Array.from({ length: count }, (_, at) => ({
      topic,
      partition: at % PARTITIONS,
      key: String(at),
      value: new Uint8Array(),
      headers: {},
    }));
  return { appended, ends, write: (count: number) => sink.write(records(count)) };
}

describe('the progress of a consumer', () => {
  it('is awaited until all given positions are processed, in each partition that is read here', async () => {
    const progress = new Progress();
    progress.reached(0, 0);
    progress.reached(1, 5);
    const waited: string[] = [];
    const both = progress
      .passed(
        [
          { partition: 0, offset: 3 },
          { partition: 0, offset: 2 },
          { partition: 1, offset: 5 },
          { partition: 7, offset: 100 },
        ],
        FOR_EVER,
      )
      .then(() => waited.push('both'));
    progress.reached(1, 6);
    progress.reached(0, 3);
    await nextTurn();
    expect(waited).toEqual([]);
    progress.reached(0, 4);
    await both;
    expect(waited).toEqual(['both']);
  });

  it('is not awaited for processed positions, or partitions that are read elsewhere', async () => {
    const progress = new Progress();
    progress.reached(0, 4);
    await progress.passed([{ partition: 0, offset: 3 }], FOR_EVER);
    await progress.passed([{ partition: 1, offset: 3 }], FOR_EVER);
    await progress.passed([], FOR_EVER);
  });

  it('ends a wait if the partition is taken away, or after the timeout', async () => {
    const progress = new Progress();
    progress.reached(0, 0);
    const taken = progress.passed([{ partition: 0, offset: 3 }], FOR_EVER);
    progress.left(0);
    await taken;
    progress.reached(0, 0);
    await progress.passed([{ partition: 0, offset: 3 }], 1);
  });
});

describe('a paced sink', () => {
  it('writes the next records only after the consumer has processed the previous ones', async () => {
    const progress = new Progress();
    progress.reached(0, 0);
    progress.reached(1, 0);
    const { appended, ends, write } = sinkOver(progress);
    let isWritten = false;
    const writing = write(60).then(() => (isWritten = true));
    await nextTurn();
    expect(appended).toEqual([25]);
    await untilFound('all of them written', async () => {
      for (const [partition, next] of ends.entries()) progress.reached(partition, next);
      return isWritten ? true : undefined;
    });
    await writing;
    expect(appended).toEqual([25, 25, 10]);
  });

  it('writes few records at once, without waiting', async () => {
    const progress = new Progress();
    progress.reached(0, 0);
    const { appended, write } = sinkOver(progress);
    await write(25);
    expect(appended).toEqual([25]);
  });

  it('continues if the consumer does not move', async () => {
    const progress = new Progress();
    progress.reached(0, 0);
    const { appended, write } = sinkOver(progress);
    await write(26);
    expect(appended).toEqual([25, 1]);
  });
});
