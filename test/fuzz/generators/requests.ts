import type { Json } from '@carillon/kernel';
import type { Dice } from '../dice.ts';
import { FULL_EVENT } from '../shop-files.ts';
import { jsonBytes } from './json-texts.ts';
import { bytesOf, hostileText } from './texts.ts';

export type Header = readonly [name: string, value: string];

export const JSON_TYPE: Header = ['content-type', 'application/json'];
export const bearer = (credential: string): Header => ['authorization', `Bearer ${credential}`];

/** The bytes of a request that is HTTP, whatever else it is; it asks for the connection to be closed after the answer. */
export function requestText(method: string, target: string, headers: readonly Header[], body?: string): string {
  const lines = [
    `${method} ${target} HTTP/1.1`,
    'host: {host}',
    ...headers.map(([name, value]) => `${name}: ${value}`),
    ...(body === undefined ? [] : [`content-length: ${body.length}`]),
    'connection: close',
  ];
  return `${lines.join('\r\n')}\r\n\r\n${body ?? ''}`;
}

/** A text as one line of a head can carry it. */
export const headerText = (dice: Dice): string =>
  bytesOf(hostileText(dice))
    .replaceAll(/[\r\n\0]/g, ' ')
    .slice(0, dice.pick([200, 2_000, 20_000]));

/** A text as one part of a path, mostly encoded as browsers do, sometimes as nobody should. */
export function pathPart(dice: Dice, text = hostileText(dice)): string {
  const part = text.slice(0, 600);
  switch (dice.between(0, 4)) {
    case 0:
      return bytesOf(part).replaceAll(/[\0-\x20\x7f-\xff]/g, '~');
    case 1:
      return [...bytesOf(part)].map((byte) => `%${byte.charCodeAt(0).toString(16).padStart(2, '0')}`).join('');
    default:
      return encodeURIComponent(part.isWellFormed() ? part : '%ED%A0%80');
  }
}

/** Mostly as it should be: each slip of its own shall meet an otherwise good request. */
export const mostly = <T>(dice: Dice, good: T, others: readonly T[], share = 0.12): T =>
  dice.chance(share) ? dice.pick(others) : good;

const PATHS: readonly string[] = [
  '/events/shop/timed',
  '/events/shop/app',
  '/events/shop/none',
  '/events/lab/orders',
  '/events/nobody/orders',
  '/events/shop/order-paid.paid',
  '/events/shop/watchers.each',
  '/events/shop',
  '/events/',
  '/events',
  '/events/shop/orders/',
  '/events/shop//orders',
  '/events/shop/./orders',
  '/events/shop/../shop/orders',
  '/events/..%2f..%2fetc%2fpasswd',
  '/events/shop/orders%00',
  '/events/shop/orders%2e',
  '/events/shop%2forders',
  '/events/sh%6fp/orders',
  '/events/%',
  '/events/%zz',
  '/events/%ff%fe',
  '/Events/shop/orders',
  '/events/__proto__/constructor',
  '/events/shop/orders;jsessionid=1',
  '/events/shop/orders?x=1',
  '/events/shop/orders#x',
  `/events/shop/${'o'.repeat(3_000)}`,
  `/events/${'a/'.repeat(1_000)}`,
  'http://example.com/events/shop/orders',
  '//events/shop/orders',
];
const TYPES: readonly string[] = [
  'application/json; charset=utf-8',
  'application/json;charset="UTF-8"',
  'application/json; charset=latin-1',
  'application/json, text/plain',
  'application/json\t;\t',
  'application/jsonx',
  'application/x-ndjson',
  'application/cloudevents+json',
  'application/cloudevents-batch+json',
  'APPLICATION/JSON',
  'text/plain',
  'application/x-www-form-urlencoded',
  'multipart/form-data; boundary=x',
  'application/json; foo=bar',
  '',
  ';',
  '/',
  'a'.repeat(5_000),
];
const ENCODINGS: readonly Header[] = [
  ['content-encoding', 'gzip'],
  ['content-encoding', 'identity'],
  ['content-encoding', 'br, gzip'],
  ['content-encoding', ''],
  ['expect', '100-continue'],
  ['expect', 'nonsense'],
  ['x-http-method-override', 'DELETE'],
  ['x-forwarded-for', '127.0.0.1, ::1'],
  ['x-forwarded-proto', 'https'],
  ['forwarded', 'for=127.0.0.1;proto=https'],
  ['origin', 'https://example.com'],
  ['origin', 'null'],
  ['traceparent', '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'],
  ['traceparent', '00-00000000000000000000000000000000-0000000000000000-00'],
  ['traceparent', 'x'.repeat(500)],
  ['ce-specversion', '1.0'],
  ['baggage', 'a=b'],
  ['range', 'bytes=0-1'],
  ['if-match', '*'],
  ['upgrade', 'websocket'],
  ['upgrade', 'h2c'],
  ['http2-settings', 'AAMAAABkAARAAAAAAAIAAAAA'],
  ['te', 'trailers'],
  ['accept-encoding', 'gzip;q=NaN'],
  ['cookie', '__proto__=1; carillon_session_1=x'],
  ['request-id', 'x'],
  ['__proto__', 'x'],
  ['constructor', 'x'],
];
const METHODS = ['GET', 'PUT', 'DELETE', 'HEAD', 'OPTIONS', 'PATCH', 'TRACE', 'PROPFIND', 'QUERY'];

/** An event of which one in four has an order that was there before. */
export const orderEvent = (dice: Dice): Json => ({
  ...FULL_EVENT,
  order_id: `A-${dice.between(1, 100_000)}`,
  // Most fire nothing: who is told is not what is looked for here, and each mail takes its time.
  status: dice.chance(0.02) ? 'paid' : 'open',
});

/** What every edge may get: odd headers beside what it needs. */
export const oddHeaders = (dice: Dice): readonly Header[] =>
  Array.from({ length: dice.chance(0.25) ? dice.between(1, 3) : 0 }, () =>
    dice.chance(0.85) ? dice.pick(ENCODINGS) : (['x-odd', headerText(dice)] as const),
  );

export const oddMethod = (dice: Dice, good: string): string => mostly(dice, good, METHODS, 0.04);
export const mediaType = (dice: Dice): Header => ['content-type', mostly(dice, 'application/json', TYPES, 0.08)];

export function eventRequest(dice: Dice): string {
  const idempotency: readonly Header[] = dice.chance(0.3)
    ? [['idempotency-key', mostly(dice, `key-${dice.between(1, 500)}`, [headerText(dice), '', 'a b', 'ä'], 0.4)]]
    : [];
  const event = orderEvent(dice);
  const body = mostly(
    dice,
    jsonBytes(dice, event),
    ['', '{}', ' '.repeat(300_000), `{"x":"${'y'.repeat(270_000)}"}`],
    0.02,
  );
  const headers = [bearer(mostly(dice, '{key}', ['{other}', '{owner}', 'x'], 0.04)), mediaType(dice), ...idempotency];
  const target = mostly(dice, '/events/shop/orders', [...PATHS, `/events/shop/${pathPart(dice)}`], 0.25);
  return requestText(oddMethod(dice, 'POST'), target, [...headers, ...oddHeaders(dice)], body);
}
