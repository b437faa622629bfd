import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { CarillonError, isCarillonError } from '@carillon/kernel';
import { bodyTooLarge } from '@carillon/runtime';
import type { Permit } from './admission-control.ts';

/** Throws unless the headers say uncompressed JSON in UTF-8. Checked before the first byte of the body is read. */
export function checkMediaType(headers: IncomingHttpHeaders): void {
  const type = headers['content-type'] ?? '';
  if (!JSON_TYPE.test(type)) {
    throw new CarillonError('unsupported_media_type', 'Send the event with Content-Type: application/json, in UTF-8.');
  }
  checkEncoding(headers);
}

/** Content of a request body to a stream. */
export type EventForm = 'event' | 'lines' | 'cloudevent' | 'cloudevents';

/** Returns what the body holds, by its media type. The body is UTF-8, not compressed. */
export function eventFormOf(headers: IncomingHttpHeaders): EventForm {
  const type = headers['content-type'] ?? '';
  const form = EVENT_TYPES.find(([pattern]) => pattern.test(type))?.[1];
  if (form === undefined) {
    const detail =
      'Send one event with Content-Type: application/json or application/cloudevents+json, or many with application/x-ndjson ' +
      'or application/cloudevents-batch+json, in UTF-8.';
    throw new CarillonError('unsupported_media_type', detail);
  }
  checkEncoding(headers);
  return form;
}

const JSON_TYPE = typePattern('json');
const EVENT_TYPES: readonly (readonly [RegExp, EventForm])[] = [
  [JSON_TYPE, 'event'],
  [typePattern('x-ndjson'), 'lines'],
  [typePattern(String.raw`cloudevents\+json`), 'cloudevent'],
  [typePattern(String.raw`cloudevents-batch\+json`), 'cloudevents'],
];

function typePattern(subtype: string): RegExp {
  return new RegExp(String.raw`^application/${subtype}[ \t]*(;[ \t]*charset="?utf-8"?[ \t]*)?$`, 'i');
}

function checkEncoding(headers: IncomingHttpHeaders): void {
  const encoding = headers['content-encoding'] ?? 'identity';
  if (encoding.toLowerCase() !== 'identity') {
    throw new CarillonError('unsupported_media_type', 'Send the event without Content-Encoding.');
  }
}

/** Refuses a body that announces itself as too large, without reading it. */
export function checkDeclaredSize(headers: IncomingHttpHeaders, maxBytes: number): void {
  if (Number(headers['content-length'] ?? 0) > maxBytes) throw bodyTooLarge(maxBytes);
}

/** Bytes of the first buffer for a body in several chunks. */
const MIN_BUFFER_BYTES = 1024;

/** Returns the whole body, at most `maxBytes`. Chunks are copied into one buffer, because each holds the memory it was read into. */
export function readBody(
  request: IncomingMessage,
  maxBytes: number,
  permit: Permit,
  response: ServerResponse,
): Promise<Uint8Array> {
  let body: Buffer = Buffer.alloc(0);
  let size = 0;
  return receiveBody(
    request,
    { maxBytes, permit, response },
    {
      take(chunk) {
        const needed = size + chunk.length;
        if (size === 0) body = chunk;
        else {
          if (needed > body.length) {
            const grown = Buffer.allocUnsafe(Math.max(needed, Math.min(maxBytes, body.length * 2), MIN_BUFFER_BYTES));
            body.copy(grown, 0, 0, size);
            body = grown;
          }
          chunk.copy(body, size);
        }
        size = needed;
      },
      whole: () => body.subarray(0, size),
    },
  );
}

export type BodyReceiver<Value> = {
  /** Is given a function that ends the reading with an error. */
  begun?(end: (error: unknown) => void): void;
  /** Takes a chunk. The next chunk is read once the returned promise resolves. A rejection ends the reading. */
  take(chunk: Buffer): Promise<void> | void;
  /** Called after the last chunk; makes the result. */
  whole(): Value;
};

/**
 * Reads a body of at most `maxBytes`, counting each chunk at its permit, which may be taken away meanwhile. What is left after a refusal stays
 * in the request: destroying it would cut the connection before the client sees the answer. Rejects when `response` was
 * given meanwhile.
 */
export function receiveBody<Value>(
  request: IncomingMessage,
  {
    maxBytes,
    permit,
    response,
  }: { readonly maxBytes: number; readonly permit: Permit; readonly response: ServerResponse },
  receiver: BodyReceiver<Value>,
): Promise<Value> {
  return new Promise((resolve, reject) => {
    let size = 0;
    let pending: Promise<void> | null = null;
    let isOver = false;

    function finish(): void {
      isOver = true;
      request.off('data', take).off('end', end).off('error', cut).off('close', cut);
      response.off('close', cut);
    }
    function fail(error: unknown): void {
      finish();
      reject(error);
    }
    function take(chunk: Buffer): void {
      if (response.writableEnded) return cut();
      try {
        size += chunk.length;
        if (size > maxBytes) throw bodyTooLarge(maxBytes);
        permit.take(chunk.length);
        const taken = receiver.take(chunk);
        if (!taken) return;
        request.pause();
        pending = taken.then(() => {
          pending = null;
          request.resume();
        }, fail);
      } catch (error) {
        fail(error);
      }
    }
    function end(): void {
      if (isOver) return;
      // After the last chunk of a buffered body, `end` and `close` come although the request is paused.
      if (pending !== null) {
        request.off('close', cut);
        void pending.then(end);
        return;
      }
      if (response.writableEnded) return cut();
      finish();
      permit.whole();
      resolve(receiver.whole());
    }
    // The client has disconnected or was already refused for being too slow, so this response is not seen.
    function cut(): void {
      fail(new CarillonError('invalid_request', 'The connection ended before the body did.'));
    }

    if (response.writableEnded || request.destroyed) {
      cut();
      return;
    }
    permit.arriving(fail);
    receiver.begun?.(fail);
    response.once('close', cut);
    request.on('data', take).on('end', end).on('error', cut).on('close', cut);
  });
}

/** Where only the whole body shows who sends: too large a body gets the answer that strangers get, and others pass through. */
export const tooLargeIs =
  (refusal: () => CarillonError) =>
  (error: unknown): never => {
    throw isCarillonError(error) && error.code === 'body_too_large' ? refusal() : error;
  };
