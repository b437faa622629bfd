import { setImmediate as nextTurn, setTimeout as pause } from 'node:timers/promises';
import { CarillonError, stopsPartition, untilAborted } from '@carillon/kernel';
import type { ConsumeOptions, PartitionWorker } from '@carillon/ports';
import { placeOf } from '../producing/appending.ts';
import type { Bounds } from '../reading/reader.ts';
import { createPartitionBuffer } from './partition-buffer.ts';
import type { Fetching } from './fetching.ts';

const FIRST_PAUSE_MS = 100;
const MAX_PAUSE_MS = 5000;

/** Assignment of one partition to this member of the group. */
export type Assignment = {
  readonly partition: number;
  /** Resolves when its last worker was told and its handler has returned. */
  readonly ended: Promise<void>;
  /** Offset after the last record that was handled, or null before any. */
  position(): number | null;
  /** Ends after the handler under way; resolves when the worker was told. */
  end(): Promise<void>;
  /** Another member has the partition: informs the worker at once, even if its handler is running. */
  forfeit(): void;
};

export type AssignmentSources = {
  readonly fetching: Fetching;
  bounds(partition: number): Promise<Bounds>;
};

/** Runs one worker after another until it ends: a failure ends the worker, and after a pause a new one begins. */
export function startAssignment(
  options: ConsumeOptions,
  partition: number,
  sources: AssignmentSources,
  before: Promise<void>,
): Assignment {
  const ending = new AbortController();
  let position: number | null = null;
  let lose: () => Promise<void> = () => Promise.resolve();

  async function follow(worker: PartitionWorker, wentWell: () => void): Promise<void> {
    const { start, end } = await sources.bounds(partition);
    if (worker.from > end) throw beyond(options, partition, end, worker.from);
    const buffer = createPartitionBuffer(partition, Math.max(worker.from, start), () => sources.fetching.wake());
    sources.fetching.add(buffer);
    try {
      for (;;) {
        const records = await buffer.take(options.maxRecords, options.maxBytes, ending.signal);
        const last = records.at(-1);
        if (!last) return;
        await worker.handle(records, () => buffer.end());
        position = last.offset + 1;
        wentWell();
        // A handler that never waits must not block the event loop.
        await nextTurn();
      }
    } finally {
      sources.fetching.remove(buffer);
    }
  }

  async function run(): Promise<void> {
    await Promise.race([before, untilAborted(ending.signal)]);
    let delay = FIRST_PAUSE_MS;
    let needsPerson = false;
    while (!ending.signal.aborted) {
      try {
        const worker = await options.assigned(partition);
        lose = onceReported(options, partition, () => worker.lost());
        await follow(worker, () => (delay = FIRST_PAUSE_MS));
      } catch (error) {
        report(options, partition, error);
        needsPerson = stopsPartition(error);
      }
      await lose();
      lose = () => Promise.resolve();
      // The partition stays stopped, because once the log has grown to the position again, other records would be at
      // that position.
      if (needsPerson) return standStill(options, partition, ending.signal);
      if (ending.signal.aborted) return;
      await pause(delay, undefined, { signal: ending.signal }).catch(() => undefined);
      delay = Math.min(delay * 2, MAX_PAUSE_MS);
    }
  }

  const ended = run();
  return {
    partition,
    ended,
    position: () => position,
    end() {
      ending.abort();
      return ended;
    },
    forfeit() {
      ending.abort();
      void lose();
    },
  };
}

async function standStill(options: ConsumeOptions, partition: number, signal: AbortSignal): Promise<void> {
  try {
    const left = options.stopped?.(partition);
    await untilAborted(signal);
    left?.();
  } catch (error) {
    report(options, partition, error);
    await untilAborted(signal);
  }
}

const beyond = ({ topic, group }: ConsumeOptions, partition: number, end: number, from: number): CarillonError =>
  new CarillonError(
    'wrong_log',
    `${placeOf(topic, partition)} ends at ${end} and group ${group} wants to go on at ${from}: its position belongs to ` +
      'another log or to a newer copy of this one',
  );

/** Calls once however often it is called; all callers wait for the one call. */
function onceReported(options: ConsumeOptions, partition: number, call: () => Promise<void>): () => Promise<void> {
  let called: Promise<void> | null = null;
  return () => {
    called ??= call().catch((error: unknown) => report(options, partition, error));
    return called;
  };
}

/** Telling of a failure must not become the next one. */
export function report(options: ConsumeOptions, partition: number, error: unknown): void {
  try {
    options.failed(partition, error);
  } catch (second) {
    process.emitWarning(second instanceof Error ? second : String(second));
  }
}
