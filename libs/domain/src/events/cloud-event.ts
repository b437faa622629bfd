import { err, ok, type Json, type Result } from '@carillon/kernel';
import { placeOf, type JsonFault } from './json-reader-fault.ts';
import { readEvent } from './json-reader.ts';
import { spanOfField } from './json-scan.ts';

/** A CloudEvent, version 1.0, as far as Carillon uses it. */
export type CloudEvent = {
  /** Source and id name the event. */
  readonly source: string;
  readonly id: string;
  /** The extension for distributed tracing, or null. */
  readonly traceparent: string | null;
};

/** Why something is not a CloudEvent. `detail` says what is wrong and what to do, without values. */
export type CloudEventFault =
  | JsonFault
  | { readonly code: 'invalid_cloudevent'; readonly detail: string; readonly pointer?: string };

/** Where `data` stands in the text of a CloudEvent. */
export type CloudEventData = {
  readonly bytes: Uint8Array;
  /** Returns a place within `data` as a place in the CloudEvent. */
  readonly placeOf: (line: number, column: number) => { readonly line: number; readonly column: number };
};

const SPACE = 0x20;
const ZERO = 0x30;
/** Attributes that a CloudEvent needs. `type` is not used. */
const REQUIRED = ['specversion', 'id', 'source', 'type'] as const;
const SPECVERSION = '1.0';

/**
 * Reads a CloudEvent in JSON as strictly as an event. `data` is a view of the bytes, so that the event keeps each of its digits; it is
 * not read here.
 */
export function readCloudEvent(
  bytes: Uint8Array,
): Result<CloudEvent & { readonly data: CloudEventData }, CloudEventFault> {
  const span = spanOfField(bytes, 'data');
  const read = readEvent(span === null ? bytes : withNumberAt(bytes, span.from, span.to));
  if (!read.ok) return read;
  const event = cloudEventOf(
    (name) => read.value.body[name],
    (name) => ({ pointer: `/${name}`, name }),
  );
  if (!event.ok) return event;
  if (span === null) return err({ code: 'invalid_cloudevent', detail: NO_DATA });
  const data = {
    bytes: bytes.subarray(span.from, span.to),
    placeOf(line: number, column: number) {
      const before = new TextDecoder().decode(bytes.subarray(0, span.from));
      const start = placeOf(before, before.length);
      return { line: start.line + line - 1, column: line === 1 ? start.column + column - 1 : column };
    },
  };
  return ok({ ...event.value, data });
}

/** Reads the attributes of a CloudEvent from the headers of its request (`ce-id`). The body is the event. */
export const readCloudEventHeaders = (
  headers: Readonly<Record<string, unknown>>,
): Result<CloudEvent, CloudEventFault> =>
  cloudEventOf(
    (name) => decoded(headers[`ce-${name}`]),
    (name) => ({ name: `ce-${name}` }),
  );

const NO_DATA = 'The CloudEvent has no data. Its data is the event: send a JSON object, without data_base64.';

/** Replaces a value with a number. Positions in the text stay unchanged. */
function withNumberAt(bytes: Uint8Array, from: number, to: number): Uint8Array {
  const copy = Uint8Array.from(bytes).fill(SPACE, from, to);
  if (to > from) copy[from] = ZERO;
  return copy;
}

function cloudEventOf(
  attribute: (name: string) => Json | undefined,
  placeOfAttribute: (name: string) => { readonly name: string; readonly pointer?: string },
): Result<CloudEvent, CloudEventFault> {
  for (const required of REQUIRED) {
    const value = attribute(required);
    if (typeof value === 'string' && value !== '') continue;
    const { name, ...place } = placeOfAttribute(required);
    const detail = `A CloudEvent needs ${name}, a text that is not empty.`;
    return err({ code: 'invalid_cloudevent', detail, ...place });
  }
  if (attribute('specversion') !== SPECVERSION) {
    const { name, ...place } = placeOfAttribute('specversion');
    return err({ code: 'invalid_cloudevent', detail: `${name} has to be ${SPECVERSION}.`, ...place });
  }
  const traceparent = attribute('traceparent');
  return ok({
    source: attribute('source') as string,
    id: attribute('id') as string,
    traceparent: typeof traceparent === 'string' ? traceparent : null,
  });
}

/** Headers are percent-encoded (HTTP binding, 3.1.3.2). */
function decoded(header: unknown): string | undefined {
  if (typeof header !== 'string') return undefined;
  try {
    return decodeURIComponent(header);
  } catch {
    return header;
  }
}
