import { writeChange, type Change, type ReadChange } from '@carillon/domain/changes';
import type { SourceStream, TableOfStream } from '@carillon/domain/configuration';
import { CHANGE_LIMITS, partitionOf, type DeadLetter } from '@carillon/domain/events';
import type { EventId, JsonObject } from '@carillon/kernel';
import type { Clock, EventLog, Ids, NewRecord, RecordCodecs } from '@carillon/ports';
import { deadLetterRecord } from '../dead-letters.ts';
import { entityAt, readTime } from './prepare-append.ts';

export type ChangePorts = {
  readonly ids: Ids;
  readonly clock: Clock;
  readonly log: Pick<EventLog, 'logId' | 'partitions'>;
  readonly codecs: Pick<RecordCodecs, 'deadLetter'>;
};

/** `without_key`: the row has no usable value at the key path. `dead_letter`: the change is too large for an event. */
export type ChangeResult = 'appended' | 'without_key' | 'dead_letter';
export type PreparedChange = { readonly record: NewRecord; readonly result: ChangeResult };

/**
 * Append (flow table, stage 1) for changes: returns the record of a change for each stream that names its table. The id derives
 * from the stream and the identity of the change, so that a repeated change has the same id.
 */
export function prepareChange(
  { change, identity }: ReadChange,
  streams: readonly SourceStream[],
  ports: ChangePorts,
): readonly PreparedChange[] {
  return streams.flatMap(({ stream, tables }) => {
    const table = tables.find((one) => one.table === change.source.table);
    if (table === undefined) return [];
    const id = ports.ids.derive('event', stream.path, 'change', ...identity) as EventId;
    return [recordOf(withoutColumns(change, table), { id, stream, table }, ports)];
  });
}

type Placed = { readonly id: EventId; readonly stream: SourceStream['stream']; readonly table: TableOfStream };

function recordOf(change: Change, { id, stream, table }: Placed, ports: ChangePorts): PreparedChange {
  const { ids, log, clock } = ports;
  const entity = entityAt(change.event, table.key);
  const time = stream.time === null ? null : readTime(change.event, stream.time, clock.now());
  const key = ids.keyed('events', stream.path, entity ?? id);
  const headers = {
    kind: 'event',
    enc: '0',
    shape: 'change',
    event_id: id,
    workspace: stream.workspace,
    stream: stream.path,
    ...(entity !== null && { key: encodeURIComponent(entity) }),
    principal: `source:${change.source.integration}`,
    // A row without a time at the path has that of its commit.
    ...(time?.ok && time.value),
  };
  const value = writeChange(change);
  if (value.length > CHANGE_LIMITS.bytes) {
    const letter = tooLarge(change, { key, headers, bytes: value.length }, ports);
    return { record: deadLetterRecord(letter, ports), result: 'dead_letter' };
  }
  const partition = partitionOf(key, log.partitions('carillon.events'));
  const record: NewRecord = { topic: 'carillon.events', partition, key, value, headers };
  return { record, result: entity === null ? 'without_key' : 'appended' };
}

/** Leaves out the columns that never reach the log. */
function withoutColumns(change: Change, { without }: TableOfStream): Change {
  if (without.length === 0) return change;
  const left = (row: JsonObject): JsonObject =>
    Object.fromEntries(Object.entries(row).filter(([name]) => !without.includes(name)));
  const { previous } = change;
  return {
    ...change,
    event: left(change.event),
    ...(previous !== undefined && { previous: previous && left(previous) }),
    unknown: change.unknown.filter((name) => !without.includes(name)),
  };
}

/** The bytes are left out, because they are too large for a dead letter too. */
function tooLarge(
  { source }: Change,
  { key, headers, bytes }: Pick<NewRecord, 'key' | 'headers'> & { readonly bytes: number },
  { ids, clock }: ChangePorts,
): DeadLetter {
  return {
    id: ids.derive('deadLetter', 'append', headers['event_id'] ?? ''),
    stage: 'append',
    workspace: headers['workspace'] ?? null,
    topic: `source ${source.integration}`,
    partition: 0,
    offset: 0,
    key,
    headers,
    value: new Uint8Array(),
    reason: 'change_too_large',
    detail:
      `The change ${source.position} of ${source.table} has ${bytes} bytes. A change may have ${CHANGE_LIMITS.bytes}. ` +
      'Leave large columns out: name them in `without` of the stream.',
    at: clock.now(),
  };
}
