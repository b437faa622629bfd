import fc from 'fast-check';
import twilio from 'twilio';
import { expect, it } from 'vitest';
import { isFromTwilio } from '../src/index.ts';

/*
 * Twilio's own library signs and checks: what it signs is from Twilio, and what it does not take is not. It is told the values
 * of a name that comes twice as a list.
 */

const library = twilio as unknown as {
  getExpectedTwilioSignature(token: string, url: string, form: Form): string;
  validateRequest(token: string, signature: string, url: string, form: Form): boolean;
};
type Form = Readonly<Record<string, string | string[]>>;

const TOKEN = '0123456789abcdef0123456789abcdef';
const URLS = [
  'https://notify.example.com/receipts/twilio/shop/texts/0123456789abcdefghjkmnpqrs-1-0123456789',
  'https://notify.example.com/receipts/twilio/-/main',
  'https://notify.example.com/base/receipts/twilio/shop/texts?a=1&b=%20',
  'http://127.0.0.1:17400/receipts/twilio/shop/texts',
  'http://127.0.0.1/receipts/twilio/shop/texts',
  'https://notify.example.com:8443/receipts/twilio/-/main',
  'https://notify.example.com:443/receipts/twilio/-/main',
];
const name = fc.oneof(
  fc.constantFrom('MessageSid', 'MessageStatus', 'From', 'Body', 'body', '__proto__', 'Ä'),
  fc.string({ unit: 'binary', maxLength: 12 }),
);
const value = fc.string({ unit: 'binary', maxLength: 40 });
const fields = fc.array(fc.tuple(name, value), { maxLength: 12 });

function formOf(pairs: readonly (readonly [string, string])[]): Form {
  const form = Object.create(null) as Record<string, string | string[]>;
  for (const [key, item] of pairs) {
    const before = form[key];
    form[key] = before === undefined ? item : [...(typeof before === 'string' ? [before] : before), item];
  }
  return form;
}
const bodyOf = (pairs: readonly (readonly [string, string])[]): Buffer =>
  Buffer.from(new URLSearchParams(pairs.map(([key, item]): [string, string] => [key, item])).toString());

it('A request that Twilio’s own library signed is accepted, whatever the form contains and in any order', () => {
  fc.assert(
    fc.property(fields, fc.constantFrom(...URLS), (pairs, url) => {
      const signature = library.getExpectedTwilioSignature(TOKEN, url, formOf(pairs));
      for (const order of [pairs, pairs.toReversed()]) {
        const headers = { 'x-twilio-signature': signature };
        expect(isFromTwilio({ url, headers, body: bodyOf(order) }, TOKEN)).toBe(true);
      }
    }),
    { numRuns: 500 },
  );
});

it('A request that Twilio’s own library rejects is rejected: another form, address, secret or signature', () => {
  fc.assert(
    fc.property(fields, fields, fc.constantFrom(...URLS), fc.constantFrom(...URLS), (pairs, others, url, signedFor) => {
      const signature = library.getExpectedTwilioSignature(TOKEN, signedFor, formOf(pairs));
      const taken = library.validateRequest(TOKEN, signature, url, formOf(others));
      const headers = { 'x-twilio-signature': signature };
      expect(isFromTwilio({ url, headers, body: bodyOf(others) }, TOKEN)).toBe(taken);
      expect(isFromTwilio({ url, headers, body: bodyOf(pairs) }, `${TOKEN}0`)).toBe(false);
    }),
    { numRuns: 300 },
  );
});

it.each([
  ['http://127.0.0.1:17400/receipts/twilio/shop/texts', 'http://127.0.0.1/receipts/twilio/shop/texts', true],
  ['https://notify.example.com/r', 'https://notify.example.com:443/r', true],
  ['http://notify.example.com/r', 'http://notify.example.com:80/r', true],
  ['https://[2001:db8::1]:8443/r', 'https://[2001:db8::1]/r', true],
  ['https://notify.example.com:8443/r?to=a:1', 'https://notify.example.com/r?to=a:1', true],
  ['https://notify.example.com:8443/r', 'https://notify.example.com:8444/r', false],
  ['https://notify.example.com:8443/r', 'https://notify.example.com:443/r', false],
  ['https://notify.example.com/r', 'http://notify.example.com/r', false],
  ['https://notify.example.com/r', 'https://evil.example.com/r', false],
])('A request to %s that is signed for %s is accepted: %s', (url, signedFor, expected) => {
  const form = { MessageSid: 'SM1', Body: 'STOP' };
  const headers = { 'x-twilio-signature': library.getExpectedTwilioSignature(TOKEN, signedFor, form) };
  const body = Buffer.from(new URLSearchParams(form).toString());
  expect(isFromTwilio({ url, headers, body }, TOKEN)).toBe(expected);
});
