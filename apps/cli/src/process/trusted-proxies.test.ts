import { expect, it } from 'vitest';
import { readSettings } from './settings.ts';

const proxies = (text?: string) =>
  readSettings({}, text === undefined ? {} : { CARILLON_TRUSTED_PROXIES: text }).trustedProxies;

it('nobody is believed about the address of a client until somebody is named', () => expect(proxies()).toEqual([]));

it.each([
  ['127.0.0.1', ['127.0.0.1']],
  ['127.0.0.1, 10.1.0.0/16 fd00::/8', ['127.0.0.1', '10.1.0.0/16', 'fd00::/8']],
])('addresses and ranges are taken: %s', (text, expected) => expect(proxies(text)).toEqual(expected));

it.each(['proxy.example.com', '10.1.0.0/33', '0.0.0.0/0', '10.1.0.0/', 'loopback', '10.1'])(
  'refuses an invalid address and a range that trusts everybody, by name: %s',
  (text) =>
    expect(() => proxies(text)).toThrow(
      `CARILLON_TRUSTED_PROXIES (trusted_proxies): expected addresses or ranges such as 10.0.0.0/8, found "${text}"`,
    ),
);
