import { processorTime } from '@carillon/testing/given';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { scrub, scrubForeign } from './scrub.ts';

const letters = (text: string) => fc.string({ unit: fc.constantFrom(...text.split('')), minLength: 1, maxLength: 20 });
const alphanumeric = letters('abcXYZ019');
const emails = fc
  .tuple(
    alphanumeric,
    letters("abcXYZ019.!#$%&'*+/=?^_`{|}~-"),
    alphanumeric,
    fc.constantFrom('com', 'example.org', 'müller.de'),
  )
  .map(([first, local, host, end]) => `${first}${local}@${host}.${end}`);
const phones = fc
  .tuple(fc.integer({ min: 1, max: 9 }), fc.array(fc.integer({ min: 0, max: 9 }), { minLength: 7, maxLength: 14 }))
  .map(([first, rest]) => `+${first}${rest.join('')}`);
const keys = fc
  .tuple(
    ...[8, 32, 6].map((n) =>
      fc.string({ unit: fc.constantFrom(...'abcXYZ019'.split('')), minLength: n, maxLength: n }),
    ),
  )
  .map((parts) => `cln_${parts.join('_')}`);
const before = fc.constantFrom(
  '',
  'to ',
  '<',
  '"',
  "'",
  '(',
  'RCPT TO:<',
  'recipient=',
  '{"to":"',
  'mailto:',
  'für ',
  '\n',
);
const after = fc.constantFrom('', ' failed', '>', '"', "'", ')', ',', ': no such user', '"}', '\n', ';');

describe('scrub', () => {
  it('removes addresses, phone numbers and keys anywhere in a text', () => {
    fc.assert(
      fc.property(fc.oneof(emails, phones, keys), before, after, (canary, head, tail) => {
        const clean = scrub(head + canary + tail);
        expect(clean).not.toContain(canary);
        // not even a telling part
        for (const part of canary.split(/[@_]/)) if (part.length > 7) expect(clean).not.toContain(part);
      }),
      { numRuns: 5000 },
    );
  });

  it.each([
    ['Authorization: Bearer abc.def-ghi', 'abc.def-ghi'],
    ['authorization=Basic YW5uYTpzZWNyZXQ=', 'YW5uYTpzZWNyZXQ'],
    ['{"password":"hunter2 x"}', 'hunter2'],
    ["auth_token: 'hunter2'", 'hunter2'],
    ['client_secret=hunter2&x=1', 'hunter2'],
    ['mongodb://anna:hunter2@db:27017/x', 'hunter2'],
    ['mongodb://anna:p@hunter2@db:27017/x', 'hunter2'],
    ['GET https://x.test/u?t=hunter2#y failed', 'hunter2'],
    ['GET /unsubscribe?t=hunter2', 'hunter2'],
    ['jwt eyJhbGciOiJub25lIn0.eyJzdWIiOiJhbm5hIn0.c2ln bad', 'eyJzdWIi'],
    ['key -----BEGIN PRIVATE KEY-----\nMIIhunter2\n-----END PRIVATE KEY-----', 'hunter2'],
    ['token fcmInstance12:APA91bHunter2Hunter2Hunter2 gone', 'Hunter2'],
    ['to anna%40example.com', 'anna'],
    ['to anna\\u0040example.com', 'anna'],
    ['to "anna smith"@example.com', 'anna'],
    ['to anna@[127.0.0.1]', 'anna'],
    ['to аня@пример.рф', 'аня'],
    ['to anna@localhost', 'anna'],
    ["to a#a='-@canary.de", 'canary'],
    ['to canary_&a=a@a.com', 'canary'],
    ["to canary'/a?@a.com", 'canary'],
    ['to cln_x@canary.de', 'canary'],
    ["'To' number +1 (555) 123-4567 is not valid", '4567'],
    ['whatsapp:%2B15551234567', '1234567'],
    ['0049 is short, 00491711234567 is not', '1711234567'],
    ['(555) 123-4567', '4567'],
    ['to 15551234567', '15551234567'],
  ])('%s', (text, canary) => {
    expect(scrub(text)).not.toContain(canary);
  });

  it('keeps what an operator needs', () => {
    for (const text of [
      'connect ECONNREFUSED 127.0.0.1:27017',
      "Cannot find package '@carillon/kernel'",
      'partition 7 of carillon.events is at 123456, its end is 123499',
      'evt_7Qm4k2Zp9Xc3Vb6Nn8Mm1Ll0Kk of shop/orders at 2026-11-21T04:18:02.123Z',
      '4bf92f3577b34da6a3ce929d0e0e4736',
      'a timeout of 30000 ms',
      'GET http://127.0.0.1:7401/v1/rules failed',
    ]) {
      expect(scrub(text)).toBe(text);
    }
  });

  it('never throws and stays fast, whatever the text', () => {
    fc.assert(fc.property(fc.string(), (text) => typeof scrubForeign(text) === 'string'));
    const spent = processorTime(() => {
      for (const piece of ['a', 'a.', '@', '+1', '"', '1 ', '{"', '<a', 'token', '-', "'a "])
        scrubForeign(piece.repeat(100_000));
    });
    expect(spent).toBeLessThan(3000);
  });

  it('removes data from messages of other libraries', () => {
    expect(scrubForeign('template broke at <p>Dear Anna</p> in line 3')).toBe('template broke at [markup] in line 3');
    expect(scrubForeign('rejected {"name":"Anna","age":[3]} as invalid')).toBe('rejected [json] as invalid');
    expect(scrubForeign('refused: "Dear Anna, your order" is spam')).toBe('refused: "[text]" is spam');
    expect(scrubForeign('first\nDear Anna')).toBe('first [more]');
    expect(scrubForeign("Cannot read properties of undefined (reading 'name')")).toBe(
      "Cannot read properties of undefined (reading 'name')",
    );
    for (const body of [
      'Anna',
      'Dear Anna, your order has been shipped',
      '{"to": Anna}',
      '["Anna"',
      '{"a":"Anna\nAnna"x',
    ]) {
      let thrown: unknown;
      try {
        JSON.parse(body);
      } catch (error) {
        thrown = error;
      }
      expect(scrubForeign((thrown as Error).message)).not.toContain('Ann');
    }
  });
});
