import { MAX_DEAD_LETTER_BYTES, partitionOf, type DeadLetter } from '@carillon/domain/events';
import type { Clock, EventLog, Ids, LogRecord, NewRecord, RecordCodecs } from '@carillon/ports';

type Ports = {
  readonly log: Pick<EventLog, 'logId' | 'partitions'>;
  readonly codecs: Pick<RecordCodecs, 'deadLetter'>;
  readonly ids: Ids;
  readonly clock: Clock;
};

/** Value, key and headers, counted as four bytes a character. */
function sizeOf({ value, key, headers }: LogRecord): number {
  const texts = [key, ...Object.entries(headers).flat()];
  return texts.reduce((sum, text) => sum + 4 * text.length, value.length);
}

/**
 * Makes the dead letter of a record that can never be processed, with the reason. Its id derives from the position, so
 * a repeat changes nothing. The bytes of a record that is too large are omitted; the letter then only has its position
 * (`isLeftOut`).
 */
export function deadLetterOf(
  stage: DeadLetter['stage'],
  record: LogRecord,
  reason: string,
  detail: string,
  { log, ids, clock }: Ports,
): DeadLetter {
  const at = [log.logId, record.topic, String(record.partition), String(record.offset)];
  const { topic, partition, offset } = record;
  const bytes = sizeOf(record);
  const fits = bytes <= MAX_DEAD_LETTER_BYTES;
  return {
    id: ids.derive('deadLetter', stage, ...at),
    stage,
    workspace: fits ? (record.headers['workspace'] ?? null) : null,
    topic,
    partition,
    offset,
    key: fits ? record.key : '',
    headers: fits ? record.headers : {},
    value: fits ? record.value : new Uint8Array(),
    reason,
    detail: fits ? detail : `${detail} (with ${bytes} bytes too large to be stored here: it is on the log)`,
    at: clock.now(),
  };
}

/** Whether the record itself has to be read from the log: the letter holds nothing of it. */
export const isLeftOut = ({ value, key, headers }: DeadLetter): boolean =>
  value.length === 0 && key === '' && Object.keys(headers).length === 0;

export const deadLetterRecord = (letter: DeadLetter, { log, codecs }: Pick<Ports, 'log' | 'codecs'>): NewRecord => ({
  topic: 'carillon.dead-letters',
  partition: partitionOf(letter.key, log.partitions('carillon.dead-letters')),
  key: letter.key,
  value: codecs.deadLetter.encode(letter),
  headers: {},
});
