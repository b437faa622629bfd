import { setTimeout as pause } from 'node:timers/promises';
import { CarillonError, stopsPartition, untilAborted } from '@carillon/kernel';
import type { ConsumeOptions, LogRecord, PartitionWorker, TopicName, EventLoopSlice } from '@carillon/ports';
import type { Arrivals } from './arrivals.ts';

/** Source of records. Reads are synchronous, so no record can arrive between an empty read and the wait. */
export type RecordSource = {
  read(topic: TopicName, partition: number, from: number, maxRecords: number, maxBytes: number): readonly LogRecord[];
  bounds(topic: TopicName, partition: number): { readonly start: number; readonly end: number };
};

/** `slice`: of the process, so that many partitions together delay others no longer than one does. */
export type RunnerSource = RecordSource & {
  readonly arrivals: Arrivals;
  readonly slice: Pick<EventLoopSlice, 'yield'>;
};

const FIRST_PAUSE_MS = 100;
const MAX_PAUSE_MS = 5000;
const POLL_INTERVAL_MS = 1000;

/**
 * Keeps a partition assigned until `signal` ends: one worker after another, each from where it says, with a pause that
 * grows from failure to failure and starts again after a batch that went well. After an
 * error that `stopsPartition` it stands still. Never rejects.
 */
export async function runPartition(
  options: ConsumeOptions,
  partition: number,
  source: RunnerSource,
  signal: AbortSignal,
): Promise<void> {
  let delay = FIRST_PAUSE_MS;
  let needsPerson = false;
  while (!signal.aborted) {
    let worker: PartitionWorker | null = null;
    try {
      worker = await options.assigned(partition);
      await follow({ options, partition, source, signal }, worker, () => (delay = FIRST_PAUSE_MS));
    } catch (error) {
      report(options, partition, error);
      needsPerson = stopsPartition(error);
    }
    try {
      await worker?.lost();
    } catch (error) {
      report(options, partition, error);
    }
    if (needsPerson) return await standStill(options, partition, signal);
    if (signal.aborted) return;
    await pause(delay, undefined, { signal }).catch(() => undefined);
    delay = Math.min(delay * 2, MAX_PAUSE_MS);
  }
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

type Assignment = {
  readonly options: ConsumeOptions;
  readonly partition: number;
  readonly source: RunnerSource;
  readonly signal: AbortSignal;
};

/** Hands records over until the assignment ends; throws what the handler threw. */
async function follow(
  { options, partition, source, signal }: Assignment,
  worker: PartitionWorker,
  wentWell: () => void,
): Promise<void> {
  const { topic, maxRecords, maxBytes } = options;
  const { end } = source.bounds(topic, partition);
  let next = worker.from;
  if (next > end) {
    throw new CarillonError(
      'wrong_log',
      `${topic}/${partition} ends at ${end} and group ${options.group} wants to go on at ${next}: its position belongs to ` +
        'another log or to a newer copy of this one',
    );
  }
  while (!signal.aborted) {
    const records = source.read(topic, partition, next, maxRecords, maxBytes);
    const last = records.at(-1);
    if (!last) {
      await source.arrivals.next(topic, partition, POLL_INTERVAL_MS, signal);
      continue;
    }
    await worker.handle(records, () => source.bounds(topic, partition).end);
    next = last.offset + 1;
    wentWell();
    // A handler that never waits must not block the event loop.
    await source.slice.yield();
  }
}

/** Telling of a failure must not become the next one. */
function report(options: ConsumeOptions, partition: number, error: unknown): void {
  try {
    options.failed(partition, error);
  } catch (second) {
    process.emitWarning(second instanceof Error ? second : String(second));
  }
}
