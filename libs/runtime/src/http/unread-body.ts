import type { IncomingMessage } from 'node:http';

const MAX_BYTES = 4 * 1024 * 1024;
const MAX_SPAN = 5000;

/**
 * After an early answer the client may still be sending. What is left is read and thrown away, so that the client gets
 * to see the answer instead of a reset connection; but only so much and so long.
 */
export function discardUnreadBody(request: IncomingMessage): void {
  // Most bodies arrive with the headers and are parsed in this tick, so no limit is needed for them.
  if (!request.complete) process.nextTick(discardRest, request);
}

function discardRest(request: IncomingMessage): void {
  request.resume();
  if (request.complete || request.readableEnded || request.destroyed) return;
  let left = MAX_BYTES;
  // Its connection ends with it.
  const timer = setTimeout(() => request.destroy(), MAX_SPAN).unref();
  const over = (): void => clearTimeout(timer);
  request.once('end', over).once('close', over);
  request.on('data', (chunk: Uint8Array) => {
    left -= chunk.length;
    if (left < 0) request.destroy();
  });
}
