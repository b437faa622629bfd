import { readEvent } from '@carillon/domain/events';
import { CarillonError } from '@carillon/kernel';
import { prepareAppend, type EventIdentity, type PreparedAppend } from '@carillon/stages';
import type { Admission } from './admission.ts';
import type { GatewayPorts } from './ports.ts';
import { checkClaims } from './tokens.ts';

/** One event as it was sent. */
export type ReceivedEvent = {
  readonly bytes: Uint8Array;
  /** Asked for after the event was read and the claims of its sender were checked. */
  readonly identity: () => EventIdentity | null;
  readonly traceparent: string | null;
};

/** Returns the record of an event. Throws the problem of an event that the stream does not take. */
export function prepareEvent(
  { bytes, identity, traceparent }: ReceivedEvent,
  { stream, principal, claims }: Admission,
  { ids, clock, log }: Pick<GatewayPorts, 'ids' | 'clock' | 'log'>,
): PreparedAppend {
  const read = readEvent(bytes);
  if (!read.ok) {
    const { code, detail, ...facts } = read.error;
    throw new CarillonError(code, detail, facts);
  }
  const { body } = read.value;
  checkClaims(stream, claims, body);
  const prepared = prepareAppend(
    { stream, principal, bytes, body, identity: identity(), traceparent },
    { ids, now: clock.now(), partitions: log.partitions('carillon.events') },
  );
  if (!prepared.ok) throw prepared.error;
  return prepared.value;
}
