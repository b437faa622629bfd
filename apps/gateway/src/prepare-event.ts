import { readEvent } from '@carillon/domain/events';
import { CarillonError, isCarillonError } from '@carillon/kernel';
import { prepareAppend, type EventIdentity, type PreparedAppend } from '@carillon/stages';
import type { Admission } from './admission.ts';
import type { GatewayPorts } from './ports.ts';
import { checkClaims } from './tokens.ts';

/** One event as the client sent it. */
export type ReceivedEvent = {
  readonly bytes: Uint8Array;
  /** Asked for after the event was read and the claims of its sender were checked. */
  readonly identity: () => EventIdentity | null;
  readonly traceparent: string | null;
  /** Returns a problem of the event as one of the body that it is a part of. Absent if the event is the whole body. */
  readonly within?: (problem: CarillonError) => CarillonError;
};

type PreparePorts = Pick<GatewayPorts, 'ids' | 'clock' | 'log'>;

/** Returns the record of an event. Throws the problem of an event that the stream does not take. */
export function prepareEvent(event: ReceivedEvent, admission: Admission, ports: PreparePorts): PreparedAppend {
  try {
    return recordOf(event, admission, ports);
  } catch (error) {
    throw event.within && isCarillonError(error) ? event.within(error) : error;
  }
}

function recordOf(
  { bytes, identity, traceparent }: ReceivedEvent,
  { stream, principal, claims }: Admission,
  { ids, clock, log }: PreparePorts,
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
