import type { LookupIntegration } from '@carillon/domain/configuration';
import { MAX_ANSWER_VALUES } from '@carillon/domain/lookups';
import type { OutboundHttp, PartnerAnswer, PartnerCall } from '@carillon/ports';
import { createLoopbackHttp, startScriptedPartner, type PartnerScript, type ScriptedPartner } from '@carillon/testing';
import { hostileJson, processorTime } from '@carillon/testing/given';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createPartnerLookup } from '../src/index.ts';
import { readAnswer, readRetryAfter } from '../src/answer.ts';

const NOW = Date.UTC(2026, 0, 31, 8);
let partner: ScriptedPartner;
let http: OutboundHttp;
beforeEach(async () => {
  partner = await startScriptedPartner();
  http = createLoopbackHttp();
});
afterEach(async () => {
  await http.close();
  await partner.stop();
});

function ask(more: Partial<LookupIntegration> = {}, call: Partial<PartnerCall> = {}): Promise<PartnerAnswer> {
  const integration: LookupIntegration = {
    kind: 'lookup',
    url: partner.url,
    authorization: { key: { secret: 'CRM_KEY' } },
    timeouts: { total: '30s' },
    ...more,
  };
  const lookup = createPartnerLookup({ http, clock: { now: () => NOW } });
  return lookup.ask({ integration, key: 'a:b', secrets: {}, userIds: ['ada', '7'], requestId: 'req_1', ...call });
}
const answering = (body: string, headers: Record<string, string> = {}, status = 200): PartnerScript => {
  return (_request, response) => void response.writeHead(status, headers).end(body);
};

const MEGABYTE = 1024 * 1024;

describe('a call that asks a partner for recipients', () => {
  it.each<[string, LookupIntegration['authorization'], string]>([
    ['Bearer where nothing is said', { key: { secret: 'K' } }, 'Bearer a:b'],
    ['Bearer', { scheme: 'Bearer', key: { secret: 'K' } }, 'Bearer a:b'],
    ['Basic, word for word', { scheme: 'Basic', key: { secret: 'K' } }, 'Basic a:b'],
    ['Basic, in base64', { scheme: 'Basic', base64: true, key: { secret: 'K' } }, 'Basic YTpi'],
  ])('authenticates by %s', async (_what, authorization, header) => {
    await ask({ authorization });
    expect(partner.calls[0]?.headers['authorization']).toBe(header);
  });

  it('posts the ids as JSON, with the request id and the configured headers', async () => {
    const headers = { 'X-Tenant': 'shop', 'X-Token': { secret: 'TOKEN' } };
    const answer = await ask({ headers }, { secrets: { TOKEN: 't-1' } });
    expect(partner.calls[0]).toMatchObject({
      method: 'POST',
      userIds: ['ada', '7'],
      headers: {
        accept: 'application/json',
        'content-type': 'application/json',
        'x-request-id': 'req_1',
        'x-tenant': 'shop',
        'x-token': 't-1',
      },
    });
    expect(answer).toMatchObject({ kind: 'answered', status: 200, items: [{}, {}] });
  });
});

describe('a call to a partner by a process that was stalled', () => {
  it('is not made after another worker may have made it', async () => {
    expect(await ask({}, { beginUntil: NOW - 1 })).toMatchObject({ kind: 'not_made' });
    expect(partner.calls).toEqual([]);
    expect(await ask({}, { beginUntil: NOW })).toMatchObject({ kind: 'answered' });
  });
});

describe('an answer of a partner', () => {
  it('keeps numbers exact, and text as it is', async () => {
    partner.follow(answering('[{"to":{"email":null},"variables":{"id":9007199254740993,"n":"é"}}]'));
    expect(await ask()).toMatchObject({
      kind: 'answered',
      items: [{ to: { email: null }, variables: { id: 9007199254740993n, n: 'é' } }],
    });
  });

  it.each<[string, PartnerScript, PartnerAnswer['kind'], RegExp]>([
    ['JSON without a content type', answering('[]'), 'answered', /^$/],
    [
      'a type of JSON',
      answering('[]', { 'content-type': 'application/vnd.crm+json; charset=utf-8' }),
      'answered',
      /^$/,
    ],
    ['another type', answering('[]', { 'content-type': 'text/plain' }), 'invalid', /says that it is text\/plain/],
    ['an object', answering('{}'), 'invalid', /is not an array/],
    ['a field twice', answering('[{"to":{},"to":{}}]'), 'invalid', /names a field twice/],
    ['__proto__', answering('[{"__proto__":{}}]'), 'invalid', /__proto__/],
    ['too many fields', answering(`[{}${',{"a":1}'.repeat(12_500)}]`), 'invalid', /more than 25000 fields and items/],
    ['too many items', answering(`[[]${',[]'.repeat(12_500)}]`), 'invalid', /more than 25000 fields and items/],
    ['half a character', answering('["\\ud800"]'), 'invalid', /not valid JSON/],
    ['a byte order mark before it', answering('\ufeff[]'), 'answered', /^$/],
    ['two byte order marks', answering('\ufeff\ufeff[]'), 'invalid', /not valid JSON/],
    ['204', answering('', {}, 204), 'invalid', /not valid JSON/],
    ['301', answering('', { location: '/' }, 301), 'refused', /redirects are not followed/],
    ['409', answering('', {}, 409), 'refused', /409/],
    ['401', answering('', {}, 401), 'unauthorized', /does not accept the key of the integration/],
    ['500', answering('', {}, 500), 'unavailable', /500/],
    ['503', answering('', {}, 503), 'throttled', /503/],
  ])('%s', async (_what, script, kind, detail) => {
    partner.follow(script);
    const answer = await ask();
    expect(answer.kind).toBe(kind);
    expect('detail' in answer ? answer.detail : '').toMatch(detail);
  });

  it('in Latin-1 is reported as wrongly encoded, with its content type', async () => {
    const latin = Buffer.from('[{"to":{"email":"a@example.com"},"variables":{"name":"Müller"}}]', 'latin1');
    const send = (headers: Record<string, string>): PartnerScript => {
      return (_request, response) => void response.writeHead(200, headers).end(latin);
    };
    partner.follow(send({}));
    const words = 'JSON is UTF-8: where the text is Latin-1 (ISO 8859-1), encode it anew';
    expect(await ask()).toMatchObject({ kind: 'invalid', detail: `the answer is not UTF-8. ${words}` });
    partner.follow(send({ 'content-type': 'application/json; charset="ISO-8859-1"' }));
    const detail = `the answer is not UTF-8; its content type says iso-8859-1. ${words}`;
    expect(await ask()).toMatchObject({ kind: 'invalid', detail });
  });

  it.each([
    ['__proto__', '{"to":{},"__proto__":{}}', 'it has a field named __proto__ or constructor'],
    ['a field twice, behind brackets in texts', '{"a":"]},{[\\\"","to":{},"to":{}}', 'it names a field twice'],
    ['a number beyond 64 bits', '{"to":{},"n":[1,[9223372036854775808]]}', 'it holds a number beyond 64 bits'],
  ])('drops one item with %s, and keeps the others', async (_, item, detail) => {
    const fine = '{"to":{"email":"a@example.com"},"variables":{"n":9007199254740993}}';
    partner.follow(answering(` [ ${fine} , ${item} ,${fine}]`));
    const read = { to: { email: 'a@example.com' }, variables: { n: 9007199254740993n } };
    expect(await ask()).toEqual({
      kind: 'answered',
      status: 200,
      items: [read, null, read],
      unread: new Map([[1, detail]]),
    });
  });

  it('is charged by its size in memory, and counts as not asked if memory is short', async () => {
    partner.follow(answering(`[[]${',[]'.repeat(10_000)}]`));
    let taken = 0;
    const take = (most: number) => (bytes: number) => (taken += bytes) <= most;
    expect(await ask({}, { room: take(10_000_000) })).toMatchObject({ kind: 'answered' });
    expect(taken).toBeGreaterThan(2_000_000);
    taken = 0;
    expect(await ask({}, { room: take(1_000_000) })).toMatchObject({ kind: 'no_room' });
  });

  it.each(Object.entries(hostileJson(MEGABYTE, MAX_ANSWER_VALUES)))(
    'of a megabyte of %s does not block the event loop',
    (_, text) => {
      const answer = { status: 200, headers: {}, body: new TextEncoder().encode(text) };
      expect(answer.body.length).toBeLessThanOrEqual(MEGABYTE);
      expect(processorTime(() => readAnswer(answer, NOW))).toBeLessThan(150);
    },
  );

  it('has a retry time in seconds or as a date, never negative', () => {
    expect(readRetryAfter(undefined, NOW)).toBeNull();
    expect(readRetryAfter('120', NOW)).toBe(120_000);
    expect(readRetryAfter('Sat, 31 Jan 2026 08:05:00 GMT', NOW)).toBe(300_000);
    expect(readRetryAfter('Sat, 31 Jan 2026 07:00:00 GMT', NOW)).toBe(0);
    expect(readRetryAfter('soon', NOW)).toBeNull();
    expect(readRetryAfter('-5', NOW) ?? 0).toBe(0);
  });
});
