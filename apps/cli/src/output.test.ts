import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { problemOf } from '@carillon/contracts';
import { CarillonError } from '@carillon/kernel';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { connect } from './client.ts';
import { reportFailure, shortTime, showTimesIn, withTimes } from './output.ts';

let server: Server;
let url: string;
beforeAll(async () => {
  const { body } = problemOf(new CarillonError('not_found', 'There is no delivery dlv_1.'), 'req_1');
  server = createServer((_request, response) => {
    response.writeHead(404, { 'content-type': 'application/problem+json' }).end(JSON.stringify(body));
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  vi.stubEnv('CARILLON_TOKEN', 'token');
});
afterAll(() => {
  vi.unstubAllEnvs();
  server.close();
});
afterEach(() => vi.restoreAllMocks());

const failureOf = (): Promise<unknown> =>
  connect({ url })
    .get('/v1/deliveries/dlv_1')
    .then(
      () => null,
      (error: unknown) => error,
    );

function written(stream: NodeJS.WriteStream): () => string {
  let text = '';
  vi.spyOn(stream, 'write').mockImplementation((chunk) => {
    text += String(chunk);
    return true;
  });
  return () => text;
}

describe('A failed command', () => {
  it('names the page of the server that explains the code', async () => {
    const stderr = written(process.stderr);
    expect(reportFailure(await failureOf(), false)).toBe(1);
    expect(stderr()).toBe(`carillon: There is no delivery dlv_1.\nsee ${url}/docs/errors#not_found\n`);
  });

  it('has the whole link in its JSON', async () => {
    const stdout = written(process.stdout);
    reportFailure(await failureOf(), true);
    expect(JSON.parse(stdout())).toMatchObject({ code: 'not_found', type: `${url}/docs/errors#not_found` });
  });

  it('names the page of the source code if it has no server', () => {
    const stderr = written(process.stderr);
    reportFailure(new CarillonError('port_in_use', 'Stop the other process.'), false);
    expect(stderr()).toBe('carillon: The port is in use: Stop the other process.\nsee docs/errors.md, port_in_use\n');
  });
});

describe('A time in a list', () => {
  afterEach(() => showTimesIn('UTC'));
  it.each([
    ['UTC', '2026-06-30 22:15:00'],
    ['Europe/Vienna', '2026-07-01 00:15:00+02:00'],
    ['Asia/Kolkata', '2026-07-01 03:45:00+05:30'],
    ['No/Where', '2026-06-30 22:15:00'],
  ])('is shown in %s', (zone, text) => {
    showTimesIn(zone);
    expect(shortTime('2026-06-30T22:15:00.000Z')).toBe(text);
  });

  it('is shown unchanged if it is not a valid time', () => {
    showTimesIn('Europe/Vienna');
    expect(shortTime('never')).toBe('never');
  });
});

describe('Times in a sentence', () => {
  afterEach(() => showTimesIn('UTC'));
  const NOW = new Date('2026-06-30T22:15:00.000Z');
  const SENTENCE = 'next until 2026-06-30T22:15:00.123Z, read at 23:00:01 UTC, held until 2026-12-31 23:30:00 UTC';
  it.each([
    ['UTC', 'next until 2026-06-30 22:15:00 UTC, read at 2026-06-30 23:00:01 UTC, held until 2026-12-31 23:30:00 UTC'],
    [
      'Europe/Vienna',
      'next until 2026-07-01 00:15:00+02:00, read at 2026-07-01 01:00:01+02:00, held until 2027-01-01 00:30:00+01:00',
    ],
  ])('are shown in %s', (zone, text) => {
    showTimesIn(zone);
    expect(withTimes(SENTENCE, NOW)).toBe(text);
  });

  it('change no other text', () => {
    const other = 'evt_01 of 2026-06-30, 10:00:00, "UTC"';
    expect(withTimes(other, NOW)).toBe(other);
  });
});
