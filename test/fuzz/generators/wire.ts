import type { Dice } from '../dice.ts';
import { headerText, orderEvent, requestText, bearer, JSON_TYPE } from './requests.ts';
import { bytesOf, hostileText, mutateText } from './texts.ts';

const CREDENTIAL = 'authorization: Bearer {key}\r\ncontent-type: application/json\r\n';
const POST = 'POST /events/shop/orders HTTP/1.1\r\nhost: {host}\r\n';
const HIDDEN = 'GET /v1/status HTTP/1.1\r\nhost: {host}\r\n\r\n';

const chunk = (text: string): string => `${text.length.toString(16)}\r\n${text}\r\n`;

/** Two readers of one connection must not disagree about where a request ends. */
const smuggling = (body: string): readonly string[] => [
  `${POST}${CREDENTIAL}content-length: ${body.length}\r\ntransfer-encoding: chunked\r\n\r\n${chunk(body)}0\r\n\r\n`,
  `${POST}${CREDENTIAL}transfer-encoding: chunked\r\ncontent-length: 4\r\n\r\n${chunk(body)}0\r\n\r\n${HIDDEN}`,
  `${POST}${CREDENTIAL}content-length: ${body.length}\r\ncontent-length: 0\r\n\r\n${body}${HIDDEN}`,
  `${POST}${CREDENTIAL}content-length: +${body.length}\r\n\r\n${body}`,
  `${POST}${CREDENTIAL}content-length: 0x10\r\n\r\n${body}`,
  `${POST}${CREDENTIAL}content-length: -1\r\n\r\n${body}`,
  `${POST}${CREDENTIAL}content-length: 99999999999999999999\r\n\r\n${body}`,
  `${POST}${CREDENTIAL}content-length : ${body.length}\r\n\r\n${body}`,
  `${POST}${CREDENTIAL}transfer-encoding: xchunked\r\n\r\n${chunk(body)}0\r\n\r\n`,
  `${POST}${CREDENTIAL}transfer-encoding: chunked, identity\r\n\r\n${chunk(body)}0\r\n\r\n`,
  `${POST}${CREDENTIAL}transfer-encoding:\x0bchunked\r\n\r\n${chunk(body)}0\r\n\r\n${HIDDEN}`,
  `${POST}${CREDENTIAL}transfer-encoding: chunked\r\n\r\n${chunk(body)}0\r\n\r\n`,
  `${POST}${CREDENTIAL}transfer-encoding: chunked\r\n\r\n${chunk(body)}`,
  `${POST}${CREDENTIAL}transfer-encoding: chunked\r\n\r\nffffffffffffffff\r\n${body}`,
  `${POST}${CREDENTIAL}transfer-encoding: chunked\r\n\r\n5;ext="${'x'.repeat(20_000)}"\r\nabcde\r\n0\r\n\r\n`,
  `${POST}${CREDENTIAL}transfer-encoding: chunked\r\n\r\n${chunk(body)}0\r\nauthorization: x\r\n\r\n`,
  `${POST}${CREDENTIAL}transfer-encoding: chunked\r\n\r\n${chunk(body)}0\n\n${HIDDEN}`,
];

const heads = (dice: Dice, body: string): readonly string[] => [
  `POST /events/shop/orders HTTP/1.1\r\n${CREDENTIAL}content-length: ${body.length}\r\n\r\n${body}`,
  `${POST}host: other\r\n${CREDENTIAL}content-length: ${body.length}\r\n\r\n${body}`,
  `${POST}${CREDENTIAL} folded: x\r\n\tline\r\ncontent-length: ${body.length}\r\n\r\n${body}`,
  `${POST}${CREDENTIAL}content-length: ${body.length}\n\n${body}`,
  `${POST.replaceAll('\r\n', '\r')}\r\r${body}`,
  `\r\n\r\n\r\n${POST}${CREDENTIAL}content-length: ${body.length}\r\n\r\n${body}`,
  `POST /events/shop/orders HTTP/1.0\r\n${CREDENTIAL}content-length: ${body.length}\r\n\r\n${body}`,
  `POST /events/shop/orders HTTP/0.9\r\n\r\n`,
  `POST /events/shop/orders HTTP/2.0\r\nhost: {host}\r\n\r\n`,
  'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n\0\0\0\x04\0\0\0\0\0',
  'CONNECT 127.0.0.1:22 HTTP/1.1\r\nhost: 127.0.0.1:22\r\n\r\n',
  'OPTIONS * HTTP/1.1\r\nhost: {host}\r\n\r\n',
  'GET / HTTP/1.1\r\nhost: {host}\r\nconnection: upgrade\r\nupgrade: websocket\r\nsec-websocket-version: 13\r\nsec-websocket-key: AAAA\r\n\r\n',
  `GET /${'a'.repeat(20_000)} HTTP/1.1\r\nhost: {host}\r\n\r\n`,
  `GET / HTTP/1.1\r\nhost: {host}\r\n${'x: y\r\n'.repeat(3_000)}\r\n`,
  `GET / HTTP/1.1\r\nhost: {host}\r\nx: ${'y'.repeat(16_500)}\r\n\r\n`,
  `GET / HTTP/1.1\r\nhost: {host}\r\nx: ${headerText(dice)}\r\nconnection: close\r\n\r\n`,
  `GET /livez HTTP/1.1\r\nhost: ${headerText(dice).slice(0, 200)}\r\nconnection: close\r\n\r\n`,
  `GET ${bytesOf(hostileText(dice)).slice(0, 300)} HTTP/1.1\r\nhost: {host}\r\n\r\n`,
  `GET / HTTP/1.1\r\nhost: {host}\r\n${bytesOf(hostileText(dice)).slice(0, 300)}: x\r\n\r\n`,
  'GET / HTTP/1.1\r\nhost: {host}\r\nx\0y: z\r\n\r\n',
  'GET /\0 HTTP/1.1\r\nhost: {host}\r\n\r\n',
  'GET',
  '\0',
  '\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03',
  'SSH-2.0-OpenSSH_9.9\r\n',
];

/** Bytes on a connection: pipelined, cut, hidden in each other, or no HTTP at all. */
export function wireRequest(dice: Dice): string {
  const body = JSON.stringify(orderEvent(dice));
  const good = requestText('POST', '/events/shop/orders', [bearer('{key}'), JSON_TYPE], body);
  const kept = good.replace('connection: close', 'connection: keep-alive');
  return dice.weighted<() => string>([
    [4, () => dice.pick(smuggling(body))],
    [4, () => dice.pick(heads(dice, body))],
    [2, () => kept.repeat(dice.between(1, 8)) + (dice.chance(0.5) ? good : HIDDEN)],
    [2, () => good.slice(0, dice.between(1, good.length))],
    [3, () => bytesOf(mutateText(dice, good)).slice(0, 40_000)],
  ])();
}
