import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { problemOf } from '@carillon/contracts';
import { EVENT_LIMITS } from '@carillon/domain/events';
import { CarillonError } from '@carillon/kernel';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { endChecks, runCheck } from './checks.ts';
import { readAnswers, type Answer, type Exchange } from './exchange.ts';
import type { FuzzCase } from './fuzz-case.ts';
import { judgeReading } from './json-refusals.ts';
import { judgeMail, wasTaken } from './mail-oracle.ts';
import { judgeAnswer, judgeExchange, judgeLog, leakIn } from './oracle.ts';
import { fuzz, MAX_BUSY, runCase } from './run.ts';
import type { Target } from './running-shop.ts';

/* The fuzzer can fail: each thing that it looks for, done by a double of the product, is found. */

const SECRETS = { 'owner token': 'own_secret_of_the_test' };
const asked = { path: '/events/shop/orders', method: 'POST', bodiless: false };

const refusal = problemOf(new CarillonError('invalid_json', 'Send one JSON value.'), 'req_1');
const answer = (status: number, more: Partial<Omit<Answer, 'status'>> = {}): Answer => ({
  status,
  headers: new Map(Object.entries(refusal.headers)),
  body: JSON.stringify({ ...refusal.body, status }),
  ...more,
});
const json = new Map([['content-type', 'application/json']]);

describe('The oracle', () => {
  it('lets a success and a problem of the table through', () => {
    expect(judgeAnswer(answer(400), asked, SECRETS)).toBeNull();
    expect(judgeAnswer(answer(202, { headers: json, body: '{"id":"evt_1"}' }), asked, SECRETS)).toBeNull();
  });

  it.each<[string, Answer, RegExp]>([
    ['a 500', answer(500), /status 500/],
    ['a 502', answer(502), /status 502/],
    ['a status that nothing documents', answer(418), /nothing documents/],
    ['a status that only other addresses have', answer(409), /nothing documents/],
    ['a redirect of an event', answer(302), /nothing documents/],
    ['a 503 without Retry-After', answer(503), /without Retry-After/],
    ['a 401 without a challenge', answer(401), /without WWW-Authenticate/],
    ['a refusal that is no problem', answer(400, { headers: json, body: '{"error":"x"}' }), /a refusal as/],
    ['a refusal without a body', answer(400, { body: '' }), /no JSON/],
    [
      'a code that nobody knows',
      answer(400, { body: JSON.stringify({ ...refusal.body, code: 'nonsense' }) }),
      /unknown code/,
    ],
    ['a code of another status', answer(404), /with status 404/],
    [
      'a field that is not of a problem',
      answer(400, { body: JSON.stringify({ ...refusal.body, stack: 'x' }) }),
      /another form/,
    ],
    ['a stack trace', answer(400, { body: 'Error: x\n    at read (/srv/app/main.ts:10:5)' }), /stack trace/],
    ['a path of the program', answer(202, { headers: json, body: '{"id":"file:///srv/app/main.ts"}' }), /stack trace/],
    ['a secret in the body', answer(202, { headers: json, body: `{"id":"${SECRETS['owner token']}"}` }), /owner token/],
    [
      'a secret in a header',
      answer(202, { headers: new Map([['x', SECRETS['owner token']]]), body: '' }),
      /owner token/,
    ],
    ['no HTTP at all', answer(0, { body: 'hello' }), /no HTTP/],
  ])('finds %s', (_, seen, fault) => {
    expect(judgeAnswer(seen, asked, SECRETS)).toMatch(fault);
  });

  it.each([
    ['GET', '/v1/secrets', 409],
    ['HEAD', '/v1/workspaces/shop/api-keys', 201],
    ['GET', '/v1/secrets/SMTP', 202],
    ['PUT', '/v1/secrets/SMTP', 304],
    ['POST', '/v1/session', 409],
    ['GET', '/inbox', 201],
    ['GET', '/readyz', 401],
    ['POST', '/cohorts/shop/feed', 403],
    ['POST', '/receipts/ses/lab/ses', 403],
    ['POST', '/unsubscribe/x', 401],
    ['GET', '/v1/workspaces', 428],
  ])('finds on %s %s the status %i, which others may have', (method, path, status) => {
    expect(judgeAnswer(answer(status), { path, method, bodiless: false }, SECRETS)).toMatch(/nothing documents/);
  });

  it('accepts an HTML page for a followed link only without scripts and without a referrer', () => {
    const link = { path: '/unsubscribe/x', method: 'GET', bodiless: false };
    const page = (more: Readonly<Record<string, string>>) =>
      judgeAnswer(
        answer(404, { headers: new Map(Object.entries({ 'content-type': 'text/html', ...more })), body: '<p>' }),
        link,
        SECRETS,
      );
    const good = { 'content-security-policy': "default-src 'none'", 'referrer-policy': 'no-referrer' };
    expect(page(good)).toBeNull();
    expect(page({ ...good, 'content-security-policy': "default-src 'self'" })).toMatch(/may run script/);
    expect(page({ ...good, 'referrer-policy': 'origin' })).toMatch(/tell its address/);
  });

  it('accepts missing configuration as a reason only on paths that need it', () => {
    const away = (code: 'keys_unavailable' | 'secret_missing', path: string) => {
      const { headers, body } = problemOf(new CarillonError(code, 'away'), 'req_1');
      const all = new Map(Object.entries({ ...headers, 'retry-after': '5' }));
      const seen = { answers: [answer(503, { headers: all, body: JSON.stringify(body) })], raw: '', took: 1 };
      const about = { path, method: 'POST', bodiless: false, client: 'stays', limit: 1, request: '' } as const;
      return judgeExchange({ ...seen, end: 'closed', refused: null }, about, SECRETS).fault;
    };
    expect(away('keys_unavailable', '/events/shop/app')).toBeNull();
    expect(away('secret_missing', '/cohorts/shop/feed')).toBeNull();
    expect(away('secret_missing', '/events/shop/app')).toContain('nothing is away');
    expect(away('keys_unavailable', '/v1/secrets')).toContain('nothing is away');
  });

  it('knows why bytes may be refused, in another way than the reader', () => {
    const judged = (text: string, refused: string | null) => judgeReading(Buffer.from(text), EVENT_LIMITS, refused);
    expect(judged('{"a":[1,{"b":"x"}],"c":-0.5e3}', null)).toBeNull();
    expect(judged('{"a":[1,{"b":"x"}],"c":-0.5e3}', 'invalid_json')).toContain('valid JSON was refused');
    expect(judged('{"a":{"b":1},"b":2}', 'duplicate_key')).toContain('valid JSON was refused');
    expect(judged('{"a":1,"\\u0061":2}', 'duplicate_key')).toBeNull();
    expect(judged('{"a":1,"a":2}', null)).toContain('duplicate_key');
    expect(judged('{"a":9223372036854775807}', 'number_out_of_range')).toContain('valid JSON was refused');
    expect(judged('{"a":9223372036854775808}', 'number_out_of_range')).toBeNull();
    expect(judged(`${'['.repeat(33)}${']'.repeat(33)}`, 'too_deep')).toBeNull();
    expect(judged('[1]', 'not_an_object')).toBeNull();
    expect(judged('{"a":1', 'invalid_json')).toBeNull();
    expect(judged('{"a":1', null)).toContain('is no JSON');
  });

  it('reads answers one after the other, chunked ones among them', () => {
    const chunked = 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n';
    const plain = 'HTTP/1.1 404 Not Found\r\ncontent-length: 2\r\n\r\nno';
    expect(readAnswers(`${chunked}HTTP/1.1 100 Continue\r\n\r\n${plain}`)).toMatchObject([
      { status: 200, body: 'abc' },
      { status: 404, body: 'no' },
    ]);
    expect(readAnswers(`${plain}garbage`).map(({ status }) => status)).toEqual([404, 0]);
  });

  it('finds what the log should not say', () => {
    expect(judgeLog('(node:1) UnhandledPromiseRejectionWarning: x', {})).toContain('standard error');
    expect(judgeLog(`{"msg":"${SECRETS['owner token']}"}`, SECRETS)).toContain('owner token');
    expect(judgeLog('{"level":"warn","msg":"calm"}', SECRETS)).toBeNull();
    expect(leakIn('nothing', SECRETS)).toBeNull();
  });
});

describe('A check in this process', () => {
  afterAll(() => endChecks());

  it('finds a throw, a rejection, and a thread that is held too long', async () => {
    const broken = (): never => {
      throw new TypeError('broken');
    };
    expect(await runCheck(broken, {})).toMatchObject({ fault: expect.stringContaining('TypeError') as unknown });
    const rejects = (): Promise<never> => Promise.reject(new RangeError('late'));
    expect(await runCheck(rejects, {})).toMatchObject({ fault: expect.stringContaining('RangeError') as unknown });
    const slow = () => {
      const begun = process.threadCpuUsage().user;
      let left = 0;
      while (process.threadCpuUsage().user - begun < 250_000) for (left = 1e6; left > 0; left -= 1);
      return { outcome: 'taken', fault: null } as const;
    };
    expect(await runCheck(slow, {})).toMatchObject({ fault: expect.stringContaining('held the thread') as unknown });
  });
});

describe('The oracle of the listener for mail', () => {
  const GOOD =
    '220 carillon\r\n250-carillon\r\n250 PIPELINING\r\n250 OK\r\n250 OK\r\n354 End data\r\n250 OK\r\n221 Bye\r\n';
  const judged = (raw: string, isForUs = true, more: Partial<Exchange> = {}) =>
    judgeMail({ answers: [], raw, took: 1, end: 'closed', refused: null, ...more }, isForUs, 500, SECRETS).fault;

  it('accepts a mail for us and a refusal, and tells them apart', () => {
    expect([judged(GOOD), wasTaken(GOOD)]).toEqual([null, true]);
    const refused = '220 carillon\r\n550 5.1.1 Nobody takes mail here\r\n503 5.5.1 Error\r\n';
    expect([judged(refused, false), wasTaken(refused)]).toEqual([null, false]);
  });

  it.each<[string, string, RegExp]>([
    ['a reply that asks to come again', '220 carillon\r\n451 4.3.0 Try again later\r\n', /says 451/],
    ['what is no reply', '220 carillon\r\nTypeError: x\r\n', /says TypeError/],
    ['half a reply', '220 carillon\r\n250 O', /half a reply/],
    ['nothing', '', /without a greeting/],
    ['a secret', `220 carillon\r\n500 ${SECRETS['owner token']}\r\n`, /owner token/],
  ])('finds %s', (_, raw, found) => {
    expect(judged(raw)).toMatch(found);
  });

  it('reports accepted mail for a foreign address, a slow listener and a dead listener', () => {
    expect(judged(GOOD, false)).toContain('not ours was taken');
    expect(judged(GOOD, true, { end: 'late' })).toContain('not done within 500 ms');
    expect(judged('', true, { refused: 'ECONNREFUSED' })).toContain('ECONNREFUSED');
  });
});

describe('A run', () => {
  const doubles: ReturnType<typeof createServer>[] = [];
  afterEach(async () => {
    for (const server of doubles.splice(0)) {
      server.closeAllConnections();
      await new Promise((closed) => server.close(closed));
    }
  });

  /** A product that does this with every request, and is well otherwise unless told. */
  async function double(listener: RequestListener, more: Partial<Target> = {}): Promise<Target> {
    const server = createServer(listener);
    doubles.push(server);
    await new Promise<void>((listening) => server.listen(0, '127.0.0.1', listening));
    const { port } = server.address() as AddressInfo;
    return {
      ports: { gateway: port, control: port, bounces: port },
      operations: [],
      secrets: SECRETS,
      fillIn: async () => Buffer.from('POST /x HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: 0\r\n\r\n'),
      newInLog: () => '',
      measure: async () => ({ loopP99: 1, loopMax: 1, memory: 1, share: 1 }),
      ran: () => 0,
      wellness: async () => null,
      close: async () => undefined,
      ...more,
    };
  }
  const shut = problemOf(new CarillonError('method_not_allowed', 'Not here.'), 'req_1');
  const refuses: RequestListener = (_, response) =>
    void response.writeHead(405, shut.headers).end(JSON.stringify(shut.body));
  const misreads: RequestListener = (_, response) =>
    void response.writeHead(400, refusal.headers).end(JSON.stringify(refusal.body));
  const few = { cases: 20, seed: 1, kinds: ['events'], limit: 500 } as const;
  const findings = async (target: Target) => (await fuzz(target, few)).failures.map(({ what }) => what);

  it('finds nothing in a double that refuses properly', async () => {
    expect(await findings(await double(refuses))).toEqual([]);
  });

  it('finds each answer that is wrong, with the case that did it', async () => {
    const target = await double((_, response) => void response.writeHead(500).end('oops'));
    const { failures } = await fuzz(target, few);
    expect(failures).toHaveLength(few.cases);
    expect(failures[0]).toMatchObject({
      number: 0,
      input: { kind: 'events' },
      what: expect.stringContaining('500') as unknown,
    });
  });

  it('finds answers that are late, missing or cut off', async () => {
    expect(await findings(await double(() => undefined))).toContain('not done within 500 ms');
    const cuts: RequestListener = (request) => request.socket.destroy();
    expect(await findings(await double(cuts))).toContain('the connection was closed without an answer');
  });

  it('finds a request that keeps the thread, in processor time and by itself, however fast the others are', async () => {
    /** The third request keeps it, each time that it comes; beside it the others seem to. */
    let ran = 0;
    const slow: RequestListener = (request, response) => {
      if (request.url === '/2') ran += MAX_BUSY + 500;
      refuses(request, response);
    };
    let number = -1;
    const numbers = new Map<FuzzCase, number>();
    const more: Partial<Target> = {
      ran: () => ran,
      async fillIn(input) {
        if (!numbers.has(input)) numbers.set(input, (number += 1));
        return Buffer.from(
          `POST /${numbers.get(input)} HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: 0\r\n\r\n`,
        );
      },
    };
    const { failures, busiest } = await fuzz(await double(slow, more), few);
    expect(failures).toMatchObject([
      { number: 2, what: expect.stringContaining('1500 ms of processor time') as unknown },
    ]);
    expect(busiest.events?.ran).toBe(1_500);
  });

  it('reports valid JSON refused as invalid, but not a refusal by a limit', async () => {
    const target = await double(misreads);
    const request = 'POST /events/shop/orders HTTP/1.1\r\ncontent-length: 7\r\n\r\n{"a":1}';
    const input = { kind: 'events', to: 'gateway', request, client: 'stays' } as const;
    expect(await runCase(target, input)).toMatchObject({ what: 'valid JSON was refused with invalid_json' });
    const torn = { ...input, request: request.replace('}', ' ') };
    expect(await runCase(target, torn)).toMatchObject({ what: null });
  });

  it('finds a product that is gone, unwell, loud or slow', async () => {
    const gone = await double(refuses);
    expect(await findings({ ...gone, ports: { gateway: 1, control: 1, bounces: 1 } })).toContainEqual(
      expect.stringContaining('nobody could talk to it'),
    );
    const unwell = { wellness: async () => 'it ended with 1' };
    expect(await findings(await double(refuses, unwell))).toEqual(['it ended with 1']);
    const loud = { newInLog: () => 'Unhandled rejection' };
    expect(await findings(await double(refuses, loud))).toContainEqual(expect.stringContaining('standard error'));
    const slow = { measure: async () => ({ loopP99: 900, loopMax: 900, memory: 1, share: 0.9 }) };
    expect(await findings(await double(refuses, slow))).toContainEqual(expect.stringContaining('event-loop delay'));
  });
});
