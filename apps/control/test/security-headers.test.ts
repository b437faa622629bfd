import { once } from 'node:events';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { openControl, TOKEN, type Fixture } from './control-fixture.ts';

let fixture: Fixture;
let port: number;
beforeAll(async () => {
  fixture = await openControl();
  ({ port } = await fixture.control.listen());
});
afterAll(() => fixture.control.close(0));

/** Sends these very bytes; answers everything that comes back. */
async function exchange(bytes: string): Promise<string> {
  const socket = connect(port, '127.0.0.1');
  await once(socket, 'connect');
  socket.write(bytes);
  return text(socket);
}

const REQUEST = (line: string, more = ''): string => `${line} HTTP/1.1\r\nHost: x\r\nConnection: close\r\n${more}\r\n`;
const SIGNED_IN = `Authorization: Bearer ${TOKEN}\r\n`;

/** Every way in which the port answers, each with the status that it has. */
const ANSWERS: readonly (readonly [string, number, string])[] = [
  ['a page', 200, REQUEST('GET /welcome')],
  ['a static file', 200, REQUEST('GET /assets/style.css')],
  ['an answer of the API', 200, REQUEST('POST /v1/doctor', SIGNED_IN)],
  ['a refusal of the API', 401, REQUEST('GET /v1/status')],
  ['an answer that failed', 500, REQUEST('GET /v1/status', SIGNED_IN)],
  ['an address that nobody serves', 404, REQUEST('GET /nowhere')],
  ['a method that the address does not take', 405, REQUEST('PUT /v1/status')],
  [
    'a body that is no JSON',
    400,
    REQUEST('POST /v1/session', 'Content-Type: application/json\r\nContent-Length: 1\r\n') + '{',
  ],
  ['health', 200, REQUEST('GET /livez')],
  ['readiness', 200, REQUEST('GET /readyz')],
  ['metrics, to a stranger', 401, REQUEST('GET /metrics')],
  ['the head of an answer alone', 200, REQUEST('HEAD /welcome')],
  ['a path that is no UTF-8', 400, REQUEST('GET /%ff')],
  ['two hosts', 400, REQUEST('GET /welcome', 'Host: y\r\n')],
  ['what is no HTTP', 400, 'hello\r\n\r\n'],
  ['a head that is too large', 400, REQUEST('GET /welcome', `X: ${'x'.repeat(40_000)}\r\n`)],
];

test.each(ANSWERS)('%s says what a browser may do with it', async (_name, status, bytes) => {
  const answer = await exchange(bytes);
  expect(answer.slice(0, 12)).toBe(`HTTP/1.1 ${status}`);
  const [head = ''] = answer.split('\r\n\r\n');
  const headers = new Map(
    head
      .split('\r\n')
      .slice(1)
      .map((line) => [line.slice(0, line.indexOf(':')).toLowerCase(), line.slice(line.indexOf(':') + 2)]),
  );
  expect(headers.get('content-security-policy')).toContain("default-src 'none'");
  expect(headers.get('content-security-policy')).toContain("frame-ancestors 'none'");
  expect(headers.get('content-security-policy')).not.toContain('unsafe');
  expect(Object.fromEntries(headers)).toMatchObject({
    'x-content-type-options': 'nosniff',
    'referrer-policy': 'no-referrer',
    'cross-origin-resource-policy': 'same-origin',
    'cross-origin-opener-policy': 'same-origin',
    'x-dns-prefetch-control': 'off',
    'cache-control': 'no-store',
    'x-request-id': expect.any(String) as unknown,
  });
});
