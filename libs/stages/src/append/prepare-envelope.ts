import type { ChangeFault, ReadChange } from '@carillon/domain/changes';
import type { EventStream } from '@carillon/domain/configuration';
import { readTraceparent, type EventId } from '@carillon/kernel';
import type { NewRecord } from '@carillon/ports';
import { deadLetterRecord } from '../dead-letters.ts';
import { prepareChange, type ChangePorts, type ChangeResult, type Refusal } from './prepare-change.ts';

/** An envelope that a client posted to a stream. */
export type PostedEnvelope = {
  readonly stream: EventStream;
  /** Kind and name of the credential, never the credential. */
  readonly principal: string;
  /** The header, or null where none was sent. */
  readonly traceparent: string | null;
};

export type PreparedEnvelope = {
  readonly id: EventId;
  readonly record: NewRecord;
  readonly result: ChangeResult;
  /** Why the change becomes a dead letter. Null if it is an event. */
  readonly refusal: Refusal | null;
  readonly error?: unknown;
};

/** Bytes of an envelope that its dead letter holds. Of a larger one the letter has only the reason. */
const MAX_KEPT_BYTES = 256 * 1024;

/** Append (flow table, stage 1) for a change that a sender posted. The same change has the same id each time it comes. */
export function prepareEnvelope(read: ReadChange, posted: PostedEnvelope, ports: ChangePorts): PreparedEnvelope {
  const { stream, principal } = posted;
  const { table } = read.change.source;
  const tables = [{ table, key: stream.key ?? '', without: [] }];
  const [prepared] = prepareChange(read, [{ stream, tables, topics: [] }], ports);
  if (prepared === undefined) throw new Error('a change of the stream’s only table was not taken');
  const traceparent = readTraceparent(posted.traceparent);
  const id = ports.ids.derive('event', stream.path, 'change', ...read.identity) as EventId;
  const { result, refusal = null, error } = prepared;
  if (refusal !== null) return { id, record: prepared.record, result, refusal, error };
  const headers = { ...prepared.record.headers, principal, ...(traceparent !== null && { traceparent }) };
  return { id, record: { ...prepared.record, headers }, result, refusal };
}

/** Returns the dead letter of an envelope that can never be read. A repeated envelope has the same letter. */
export function refusedEnvelope(
  { code, detail }: ChangeFault,
  bytes: Uint8Array,
  { stream, principal }: PostedEnvelope,
  ports: ChangePorts,
): NewRecord {
  const { ids, clock } = ports;
  const id = ids.derive('deadLetter', 'append', stream.path, new TextDecoder('latin1').decode(bytes));
  const letter = {
    id,
    stage: 'append' as const,
    workspace: stream.workspace,
    topic: `events/${stream.path}`,
    partition: 0,
    offset: 0,
    key: ids.keyed('events', stream.path, id),
    headers: { workspace: stream.workspace, stream: stream.path, principal },
    value: bytes.length > MAX_KEPT_BYTES ? new Uint8Array() : bytes,
    reason: code,
    detail,
    at: clock.now(),
  };
  return deadLetterRecord(letter, ports);
}
