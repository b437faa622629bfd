import {
  readCloudEvent,
  readCloudEventHeaders,
  type CloudEventData,
  type CloudEventFault,
} from '@carillon/domain/events';
import { CarillonError, readTraceparent, type Result } from '@carillon/kernel';
import type { IncomingHttpHeaders } from 'node:http';
import type { ReceivedEvent } from './prepare-event.ts';

/** Whether a request with `application/json` carries a CloudEvent in binary mode: its attributes are headers. */
export const hasCloudEventHeaders = (headers: IncomingHttpHeaders): boolean =>
  ATTRIBUTES.some((name) => headers[name] !== undefined);

/** A request with any of these headers is a CloudEvent. If it were taken as a plain event, each repeat would get a new id. */
const ATTRIBUTES = ['ce-specversion', 'ce-id', 'ce-source', 'ce-type'] as const;

/** Returns the event of a CloudEvent in binary mode. */
export function receiveBinaryCloudEvent(
  bytes: Uint8Array,
  headers: IncomingHttpHeaders,
  traceparent: string | null,
): ReceivedEvent {
  const { source, id, traceparent: own } = orThrow(readCloudEventHeaders(headers));
  return { bytes, identity: () => ['cloudevent', source, id], traceparent: readTraceparent(own) ?? traceparent };
}

/** Returns the event of a CloudEvent in structured mode: its data. */
export function receiveCloudEvent(bytes: Uint8Array, traceparent: string | null): ReceivedEvent {
  const { source, id, traceparent: own, data } = orThrow(readCloudEvent(bytes));
  return {
    bytes: data.bytes,
    identity: () => ['cloudevent', source, id],
    traceparent: readTraceparent(own) ?? traceparent,
    within: (error) => withinData(error, data),
  };
}

function orThrow<Value>(read: Result<Value, CloudEventFault>): Value {
  if (read.ok) return read.value;
  const { code, detail, ...facts } = read.error;
  throw new CarillonError(code, detail, facts);
}

function withinData({ code, detail, facts, cause }: CarillonError, data: CloudEventData): CarillonError {
  const { pointer, line, column, ...others } = facts;
  const place = line === undefined || column === undefined ? {} : data.placeOf(line, column);
  return new CarillonError(
    code,
    detail,
    { ...others, ...place, ...(pointer !== undefined && { pointer: `/data${pointer}` }) },
    { cause },
  );
}
