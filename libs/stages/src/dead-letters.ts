import type { DeadLetter } from '@carillon/domain';
import { partitionOf } from '@carillon/domain';
import type { Clock, EventLog, Ids, LogRecord, NewRecord, RecordCodecs } from '@carillon/ports';

type Ports = {
  readonly log: Pick<EventLog, 'logId' | 'partitions'>;
  readonly codecs: Pick<RecordCodecs, 'deadLetter'>;
  readonly ids: Ids;
  readonly clock: Clock;
};

/** A record that can never be processed, with the reason. Its id comes from its position: parking twice changes nothing. */
export function deadLetterOf(
  stage: DeadLetter['stage'],
  record: LogRecord,
  reason: string,
  detail: string,
  { log, ids, clock }: Ports,
): DeadLetter {
  const at = [log.logId, record.topic, String(record.partition), String(record.offset)];
  return {
    id: ids.derive('deadLetter', stage, ...at),
    stage,
    workspace: record.headers['workspace'] ?? null,
    topic: record.topic,
    partition: record.partition,
    offset: record.offset,
    key: record.key,
    headers: record.headers,
    value: record.value,
    reason,
    detail,
    at: clock.now(),
  };
}

export const deadLetterRecord = (letter: DeadLetter, { log, codecs }: Pick<Ports, 'log' | 'codecs'>): NewRecord => ({
  topic: 'carillon.dead-letters',
  partition: partitionOf(letter.key, log.partitions('carillon.dead-letters')),
  key: letter.key,
  value: codecs.deadLetter.encode(letter),
  headers: {},
});
