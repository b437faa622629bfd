import { createLoopbackGuard } from '@carillon/testing';
import { once } from 'node:events';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createSinchSenderFactory } from '../src/index.ts';

const TOKEN = 'a-secret-token';
let server: Server;
let received: { readonly url: string; readonly authorization: string; readonly body: unknown }[];
let answer: { readonly status: number; readonly body: object };
beforeEach(async () => {
  received = [];
  answer = { status: 201, body: { id: '01FC66621XXXXX119Z8PMV1QPQ' } };
  server = createServer((request, response) => {
    void text(request).then((body) => {
      const { url = '', headers } = request;
      received.push({ url, authorization: headers.authorization ?? '', body: JSON.parse(body) });
      response.writeHead(answer.status, { 'content-type': 'application/json' }).end(JSON.stringify(answer.body));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
});
afterEach(async () => {
  server.closeAllConnections();
  await new Promise((done) => server.close(done));
});

async function send() {
  const deps = { clock: { now: () => Date.UTC(2026, 10, 29) }, guard: createLoopbackGuard() };
  const sender = createSinchSenderFactory(deps).create(
    {
      kind: 'sinch',
      service_plan_id: 'plan1',
      api_token: { secret: 'TOKEN' },
      from: '+4930123456',
      url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    },
    { TOKEN },
    '',
  );
  const result = await sender.send(
    { channel: 'sms', to: '+4915112345678', text: 'Your parcel is here' },
    {
      workspace: 'shop',
      deliveryId: 'dlv_1',
      attemptToken: 'token',
      receiptToken: '0123456789abcdefghjkmnpqrs-1-0123456789',
      reportTo: null,
      traceparent: null,
      notAfter: Date.UTC(2026, 10, 30),
      signal: new AbortController().signal,
    },
  );
  await sender.close();
  return result;
}

describe('a Sinch account', () => {
  it('posts a batch with one message', async () => {
    expect(await send()).toMatchObject({ verdict: 'accepted', providerId: '01FC66621XXXXX119Z8PMV1QPQ' });
    expect(received).toEqual([
      {
        url: '/xms/v1/plan1/batches',
        authorization: `Bearer ${TOKEN}`,
        body: { from: '4930123456', to: ['4915112345678'], body: 'Your parcel is here' },
      },
    ]);
  });

  it.each([
    [401, 'refused_account'],
    [400, 'refused_content'],
    [429, 'throttled'],
    [503, 'ambiguous'],
  ] as const)('takes %i as %s, and does not repeat the token', async (status, verdict) => {
    answer = { status, body: { code: 'some_code', text: `no: ${TOKEN}` } };
    const result = await send();
    expect(result).toMatchObject({ verdict, code: 'some_code' });
    expect(JSON.stringify(result)).not.toContain(TOKEN);
  });
});
