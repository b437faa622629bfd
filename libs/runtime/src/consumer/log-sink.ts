import type { Duration } from '@carillon/kernel';
import type { EventLog, NewRecord, OutputSink, TopicName, EventLoopSlice } from '@carillon/ports';
import type { Progress } from './progress.ts';

/** Bytes that are appended at once. */
const APPEND_BYTES = 8 * 1024 * 1024;
/** Records that are appended at once: the appends of others wait behind no more than these. */
const APPEND_RECORDS = 500;

/**
 * The sink of what is live: encodes outputs and appends them, some at a time, so that not all of what a batch asks for is in
 * memory as bytes. With a `slice` it yields to the event loop while it encodes.
 */
export function createLogSink<Output>(
  log: Pick<EventLog, 'append'>,
  encode: (output: Output) => NewRecord,
  slice?: EventLoopSlice,
): OutputSink<Output> {
  return {
    async write(outputs) {
      let some: NewRecord[] = [];
      let bytes = 0;
      for (const output of outputs) {
        const record = encode(output);
        if (some.length > 0 && (some.length === APPEND_RECORDS || bytes + record.value.length > APPEND_BYTES)) {
          await log.append(some);
          some = [];
          bytes = 0;
        }
        some.push(record);
        bytes += record.value.length;
        if (slice?.isExpired()) await slice.yield();
      }
      if (some.length > 0) await log.append(some);
    },
  };
}

/** The sink of a stage whose outputs are records already. */
export const createRecordSink = (log: Pick<EventLog, 'append'>): OutputSink => createLogSink(log, (record) => record);

/** Maximum records that one paced writer is ahead of a consumer. */
const AHEAD = 25;
/**
 * Maximum wait for a stalled consumer per append, so that a batch of 10,000 outputs takes at most twenty extra seconds.
 */
const TIMEOUT: Duration = 50;

/**
 * Creates a sink that keeps pace with the consumer of `topic`: it continues once its last append was consumed.
 * Otherwise a thousand outputs of one batch would delay all later records in their partitions. It does not wait for
 * partitions of another process, whose progress is unknown.
 */
export function createPacedSink(
  log: Pick<EventLog, 'append'>,
  { topic, progress }: { readonly topic: TopicName; readonly progress: Progress },
): OutputSink {
  return {
    async write(outputs) {
      const plain = createRecordSink(log);
      if (outputs.length <= AHEAD) return plain.write(outputs);
      for (let at = 0; at < outputs.length; at += AHEAD) {
        const some = outputs.slice(at, at + AHEAD);
        const offsets = await log.append(some);
        const places = some.flatMap((record, index) =>
          record.topic === topic ? [{ partition: record.partition, offset: offsets[index] ?? 0 }] : [],
        );
        await progress.passed(places, TIMEOUT);
      }
    },
  };
}
