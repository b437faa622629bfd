import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import { CarillonError, isCarillonError } from '@carillon/kernel';
import { bodyTooLarge } from '@carillon/runtime';
import type { Permit } from './admission-control.ts';

/** The body is JSON as UTF-8, not compressed: what is said in headers is checked before the first byte is read. */
export function checkMediaType(headers: IncomingHttpHeaders): void {
  const type = headers['content-type'] ?? '';
  if (!/^application\/json[ \t]*(;[ \t]*charset="?utf-8"?[ \t]*)?$/i.test(type)) {
    throw new CarillonError('unsupported_media_type', 'Send the event with Content-Type: application/json, in UTF-8.');
  }
  const encoding = headers['content-encoding'] ?? 'identity';
  if (encoding.toLowerCase() !== 'identity') {
    throw new CarillonError('unsupported_media_type', 'Send the event without Content-Encoding.');
  }
}

/** Refuses a body that announces itself as too large, without reading it. */
export function checkDeclaredSize(headers: IncomingHttpHeaders, maxBytes: number): void {
  if (Number(headers['content-length'] ?? 0) > maxBytes) throw bodyTooLarge(maxBytes);
}

/**
 * Reads the whole body, at most `maxBytes`, counting each chunk at its place, which may be taken away meanwhile. What is left after a refusal stays
 * in the request: destroying it would cut the connection before the client sees the answer. Rejects when `response` was
 * given meanwhile.
 */
export function readBody(
  request: IncomingMessage,
  maxBytes: number,
  place: Permit,
  response: ServerResponse,
): Promise<Uint8Array> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;

    function finish(): void {
      request.off('data', take).off('end', end).off('error', cut).off('close', cut);
      response.off('close', cut);
    }
    function take(chunk: Buffer): void {
      if (response.writableEnded) return cut();
      try {
        size += chunk.length;
        if (size > maxBytes) throw bodyTooLarge(maxBytes);
        place.take(chunk.length);
        chunks.push(chunk);
      } catch (error) {
        finish();
        reject(error);
      }
    }
    function end(): void {
      if (response.writableEnded) return cut();
      finish();
      place.whole();
      const [only] = chunks;
      resolve(chunks.length === 1 && only ? only : Buffer.concat(chunks, size));
    }
    // The client has gone, or was told already that it was too slow: nobody sees this answer.
    function cut(): void {
      finish();
      reject(new CarillonError('invalid_request', 'The connection ended before the body did.'));
    }

    if (response.writableEnded || request.destroyed) {
      cut();
      return;
    }
    place.arriving((refusal) => {
      finish();
      reject(refusal);
    });
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
