import { PassThrough } from 'node:stream';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { describe, expect, it } from 'vitest';
import type { Permit } from './admission-control.ts';
import { readBody } from './request-body.ts';

const NO_LIMITS = { take: () => undefined, whole: () => undefined, arriving: () => undefined } as unknown as Permit;

describe('readBody', () => {
  it('holds no chunk of a body that comes in many', async () => {
    const request = new PassThrough();
    const response = new PassThrough() as unknown as ServerResponse;
    const text = Array.from({ length: 5000 }, (_, n) => String(n % 10)).join('');
    const chunks = Array.from(text, (digit) => Buffer.from(digit));
    const reading = readBody(request as unknown as IncomingMessage, text.length, NO_LIMITS, response);
    for (const chunk of chunks) request.emit('data', chunk);
    for (const chunk of chunks) chunk.fill(0);
    request.emit('end');
    expect(new TextDecoder().decode(await reading)).toBe(text);
  });
});
