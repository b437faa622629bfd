import { expect, it } from 'vitest';
import { readSettings } from './settings.ts';

const bounces = (env: Readonly<Record<string, string>>) => readSettings({}, env).bounces;

it('no mail is taken until somebody says where', () => expect(bounces({})).toBeNull());

it.each([
  ['127.0.0.1:7425', undefined, { host: '127.0.0.1', port: 7425, protocol: 'lmtp' }],
  ['[::1]:25', 'smtp', { host: '::1', port: 25, protocol: 'smtp' }],
])('the variables say where and how: %s %s', (listen, protocol, expected) => {
  const env = { CARILLON_BOUNCES_LISTEN: listen, ...(protocol && { CARILLON_BOUNCES_PROTOCOL: protocol }) };
  expect(bounces(env)).toEqual(expected);
});

it.each([
  [{ CARILLON_BOUNCES_LISTEN: '7425' }, /CARILLON_BOUNCES_LISTEN \(bounces\.listen\): expected 127\.0\.0\.1:7425/],
  [{ CARILLON_BOUNCES_LISTEN: 'a:99999' }, /CARILLON_BOUNCES_LISTEN/],
  [
    { CARILLON_BOUNCES_LISTEN: 'a:25', CARILLON_BOUNCES_PROTOCOL: 'http' },
    /CARILLON_BOUNCES_PROTOCOL: expected lmtp or smtp, found "http"/,
  ],
])('a wrong one is refused by name: %s', (env, words) => expect(() => bounces(env)).toThrow(words));
