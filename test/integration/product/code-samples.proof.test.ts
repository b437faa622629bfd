import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { readEvent } from '@carillon/domain/events';
import { stringifyJson, type Json, type JsonObject } from '@carillon/kernel';
import { CODE_LANGUAGES, codeSample, credentialOf } from '@carillon/insight';
import fc from 'fast-check';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeWith } from '../../support/requirements.ts';
import { runSample, SAMPLE_PROGRAMS } from '../../support/sample-programs.ts';

/*
 * Whatever an event holds, the program that a code sample is sends exactly that. One run of each language carries
 * thousands of hostile texts, as values and as names.
 */

type Heard = { readonly headers: IncomingHttpHeaders; readonly path: string; readonly body: Buffer };
const heard: Heard[] = [];
const server = createServer((request, response) => {
  const parts: Buffer[] = [];
  request.on('data', (part: Buffer) => parts.push(part));
  request.on('end', () => {
    heard.push({ headers: request.headers, path: request.url ?? '', body: Buffer.concat(parts) });
    response.writeHead(Number(request.headers['x-answer'] ?? 202)).end('{"id":"evt_1"}');
  });
});
let url = '';
beforeAll(async () => {
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/events/shop/order-paid.paid`;
});
afterAll(() => new Promise((done) => server.close(done)));

const HOSTILE = [
  `'`,
  `"`,
  '`',
  '\\',
  '$HOME',
  '${HOME}',
  '$(id)',
  '`id`',
  '%s %d',
  '\n',
  '\r\n',
  '\t\0\u0007\u001b[31m',
  `'; exit 1; '`,
  `"); process.exit(1); ("`,
  `""" + exit(1) + """`,
  '` + panic(1) + `',
  '{{x}}',
  '*/ // # <!-- -->',
  '\u2028\u2029\u202e\ufeff\u200d\u00ad',
  '👩‍👩‍👧 né 日本 \u{e0041}',
  '!history',
  '\\u0027 \\x27 \\n',
  '@/etc/passwd',
];

/** Text as it may stand in an event: without half characters, which no event has. */
const wellFormed = fc.oneof(
  fc.constantFrom(...HOSTILE),
  fc.string({ unit: 'binary', maxLength: 12 }).map((text) => text.toWellFormed()),
  fc.array(fc.constantFrom(...HOSTILE), { minLength: 2, maxLength: 4 }).map((parts) => parts.join('')),
);
const value: fc.Arbitrary<Json> = fc.letrec<{ json: Json }>((tie) => ({
  json: fc.oneof(
    { maxDepth: 3, depthSize: 'small' },
    wellFormed,
    fc.oneof(fc.boolean(), fc.constant(null), fc.integer(), fc.double({ noNaN: true, noDefaultInfinity: true })),
    fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
    fc.array(tie('json'), { maxLength: 3 }),
    fc.array(fc.tuple(wellFormed, tie('json')), { maxLength: 3 }).map((entries) => Object.fromEntries(entries)),
  ),
})).json;

const hostileEvent = (seed: number): JsonObject => {
  const values = fc.sample(value, { numRuns: 250, seed });
  const names = fc.sample(wellFormed, { numRuns: 250, seed: seed + 1 });
  return Object.fromEntries([
    ...HOSTILE.map((text, at) => [`hostile ${at}`, text] as const),
    ...values.map((one, at) => [`${names[at]}${at}`, one] as const),
  ]);
};

/** As the intake reads it; what could not be read would not be the same. */
const readBack = (bytes: Uint8Array): string => {
  const read = readEvent(bytes, { depth: 32, keys: 100_000 });
  return read.ok ? stringifyJson(read.value.body) : `refused: ${read.error.detail}`;
};

const facts = (event: JsonObject) => ({
  url,
  event,
  credential: credentialOf({ api_keys: ['backend'] }),
  notes: ['a note\nwith a line of its own'],
});
const ENV = { CARILLON_API_KEY: 'cln_test' };

for (const name of CODE_LANGUAGES) {
  describeWith(SAMPLE_PROGRAMS[name].needs, `a sample in ${name}`, () => {
    it('sends exactly its event, whatever texts and numbers are in it, with the headers of the intake', async () => {
      const event = hostileEvent(7);
      const { code, out, err } = await runSample(name, codeSample(name, facts(event)), ENV);
      expect(code, err).toBe(0);
      expect(out).toContain('evt_1');
      const sent = heard.pop();
      expect(readBack(sent?.body ?? Buffer.alloc(0))).toBe(readBack(Buffer.from(stringifyJson(event))));
      expect(sent?.path).toBe('/events/shop/order-paid.paid');
      expect(sent?.headers).toMatchObject({
        authorization: 'Bearer cln_test',
        'content-type': 'application/json',
        'idempotency-key': expect.stringMatching(/^[0-9a-f-]{32,36}$/) as string,
      });
    }, 240_000);

    it('without its credential sends nothing, and names the variable', async () => {
      const before = heard.length;
      const { code, out, err } = await runSample(name, codeSample(name, facts({ a: 1 })), {});
      expect(code).not.toBe(0);
      expect(out + err).toContain('CARILLON_API_KEY');
      expect(heard).toHaveLength(before);
    }, 240_000);

    it('says what every holder of a key has to know, and shows no character that a terminal obeys', () => {
      const code = codeSample(name, facts(hostileEvent(11)));
      expect(code).toContain('An API key belongs on a server, never in a page or an app.');
      expect(code.replaceAll(/[\n\t]/g, '')).not.toMatch(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/u);
    });
  });
}

it('names the token where the stream is secured by a JWT provider', () => {
  for (const name of CODE_LANGUAGES) {
    const code = codeSample(name, { ...facts({}), credential: credentialOf({ jwt_provider: 'auth' }) });
    expect(code).toContain('CARILLON_JWT');
    expect(code).not.toContain('API');
  }
});
