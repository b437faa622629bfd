import { formatPosition } from '@carillon/domain/events';
import type { Instant, LogId } from '@carillon/kernel';
import type { ConfigurationView, EventLog, EventRow, ReadModels } from '@carillon/ports';
import { readSourceRecord } from '@carillon/stages';
import { fieldsRead, type FieldRead, type FieldsReadPorts } from './fields-read.ts';
import { markedLines, type MarkedLine } from './marked-json.ts';

export type EventContentPorts = FieldsReadPorts & {
  readonly log: Pick<EventLog, 'logId' | 'read'>;
  readonly readModels: Pick<ReadModels, 'event'>;
  readonly configuration: Pick<ConfigurationView, 'at'>;
};

export type EventContentQuery = {
  /** Log position of the event. If absent, the first of several events with the same id. */
  readonly position?: string;
  /** Lines, from 0. */
  readonly from: number;
  readonly limit: number;
};

/** Content of an event, as it was received. */
export type EventContent = {
  readonly id: string;
  readonly workspace: string;
  readonly stream: string;
  readonly at: Instant;
  readonly bytes: number;
  /** Number of the configuration that judged it, which says who reads what. */
  readonly configNumber: number;
  readonly position: string;
  /** Number of events with this id. */
  readonly copies: number;
  /** Why the body cannot be shown. Null if it can. */
  readonly gone: string | null;
  readonly fields: readonly FieldRead[];
  readonly whole: readonly string[];
  readonly lines: readonly MarkedLine[];
  /** Where the next page of lines begins; null on the last one. */
  readonly next: number | null;
};

const positionOf = ({ partition, offset }: EventRow, logId: LogId): string =>
  formatPosition({ logId, topic: 'carillon.events', partition, offset });

/** The body of an event with the fields marked that were read. Null where there is no such event, or none at this position. */
export async function openEvent(
  id: string,
  { position, from, limit }: EventContentQuery,
  ports: EventContentPorts,
): Promise<EventContent | null> {
  const rows = await ports.readModels.event(id);
  const placed = rows.map((row) => ({ row, at: positionOf(row, ports.log.logId) }));
  const found = position === undefined ? placed[0] : placed.find((one) => one.at === position);
  if (!found) return null;
  const { row } = found;
  const { workspace, stream, at, bytes, configNumber } = row;
  const facts = { id, workspace, stream, at, bytes, configNumber, position: found.at, copies: rows.length };
  const without = (gone: string): EventContent => ({ ...facts, gone, fields: [], whole: [], lines: [], next: null });
  const [record] = await ports.log.read('carillon.events', row.partition, row.offset, 1);
  if (!record || record.offset !== row.offset) return without('retention has removed the event from the log');
  const read = readSourceRecord(record, ports.log.logId);
  if (read.ok && read.value.kind === 'erased') return without('the event was erased');
  if (!read.ok || read.value.kind !== 'event') return without('the record cannot be read; see the dead letters');
  const { body } = read.value.event;
  const { fields, whole } = fieldsRead(body, stream, await ports.configuration.at(configNumber), ports);
  const lines: MarkedLine[] = [];
  let index = 0;
  let next: number | null = null;
  for (const line of markedLines(body, fields)) {
    if (lines.length === limit) {
      next = index;
      break;
    }
    if (index >= from) lines.push(line);
    index += 1;
  }
  return { ...facts, gone: null, fields, whole, lines, next };
}
