import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { problemOf } from '@carillon/contracts';
import { CarillonError } from '@carillon/kernel';
import { afterAll, afterEach, describe, expect, it } from 'vitest';
import { endChecks, runCheck } from './checks.ts';
import { readAnswers, type Answer } from './exchange.ts';
import { judgeAnswer, judgeLog, leakIn } from './oracle.ts';
import { fuzz } from './run.ts';
import type { Target } from './running-shop.ts';

/* The fuzzer can fail: each thing that it looks for, done by a double of the product, is found. */

const SECRETS = { 'owner token': 'own_secret_of_the_test' };
const asked = { path: '/events/shop/orders', bodiless: false };

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
      ports: { gateway: port, control: port },
      operations: [],
      secrets: SECRETS,
      fillIn: async () => Buffer.from('POST /x HTTP/1.1\r\nhost: x\r\nconnection: close\r\ncontent-length: 0\r\n\r\n'),
      newInLog: () => '',
      measure: async () => ({ loopP99: 1, loopMax: 1, memory: 1, share: 1 }),
      wellness: async () => null,
      close: async () => undefined,
      ...more,
    };
  }
  const refuses: RequestListener = (_, response) =>
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

  it('finds a product that is gone, unwell, loud or slow', async () => {
    const gone = await double(refuses);
    expect(await findings({ ...gone, ports: { gateway: 1, control: 1 } })).toContainEqual(
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
