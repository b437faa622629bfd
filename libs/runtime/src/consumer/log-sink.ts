import type { EventLog, NewRecord, OutputSink, Turns } from '@carillon/ports';

/** Bytes that are appended at once. */
const APPEND_BYTES = 8 * 1024 * 1024;
/** Records that are appended at once: the appends of others wait behind no more than these. */
const APPEND_RECORDS = 500;

/**
 * The sink of what is live: encodes outputs and appends them, some at a time, so that not all of what a batch asks for is in
 * memory as bytes. `turns`: where encoding may take long, it goes on in a later turn.
 */
export function createLogSink<Output>(
  log: Pick<EventLog, 'append'>,
  encode: (output: Output) => NewRecord,
  turns?: Turns,
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
        if (turns?.isOver()) await turns.next();
      }
      if (some.length > 0) await log.append(some);
    },
  };
}

/** The sink of a stage whose outputs are records already. */
export const createRecordSink = (log: Pick<EventLog, 'append'>): OutputSink => createLogSink(log, (record) => record);
