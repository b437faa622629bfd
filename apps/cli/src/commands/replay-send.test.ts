import type { JobBody, RunMissingBody } from '@carillon/contracts';
import { Command } from 'commander';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { PassThrough } from 'node:stream';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { sendCommand, stopText } from './replay-send.ts';

const LOOK = {
  run: 'run_1',
  count: 2,
  checksum: 'ab12',
  since: '2026-11-22T09:00:00.000Z',
  messages: 2,
  people: 2,
  by_rule: [],
  needs_lookup: { events: 0, user_ids: 0 },
  oldest: null,
  newest: null,
  too_old: 0,
  rows: null,
} satisfies RunMissingBody;

let server: Server;
let looked: RunMissingBody;
const posted: unknown[] = [];
beforeEach(async () => {
  posted.length = 0;
  looked = LOOK;
  server = createServer((request, response) => {
    let text = '';
    request.on('data', (chunk: Buffer) => (text += chunk.toString()));
    request.on('end', () => {
      if (request.method === 'POST') posted.push(JSON.parse(text));
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify(request.method === 'POST' ? { id: 'job_1' } : looked));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  vi.stubEnv('CARILLON_TOKEN', 't');
  vi.spyOn(process.stdout, 'write').mockReturnValue(true);
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
  server.close();
});

async function send(...options: readonly string[]): Promise<string> {
  const program = new Command().exitOverride();
  sendCommand(program, async () => '/v1/workspaces/shop/runs');
  const { port } = server.address() as AddressInfo;
  const url = ['--url', `http://127.0.0.1:${port}`, '--workspace', 'shop', '--no-wait'];
  try {
    await program.parseAsync(['send', 'run_1', ...url, ...options], { from: 'user' });
    return '';
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

describe('carillon replay send', () => {
  it('sends number and checksum that are given, without a look', async () => {
    expect(await send('--count', '2', '--checksum', 'ab12', '--rate', '50', '--expires', '2h', '--max-age', '1h')).toBe(
      '',
    );
    expect(posted).toEqual([{ count: 2, checksum: 'ab12', rate: 50, expires: '2h', max_age: '1h' }]);
  });

  it('sends what the preview shows after confirmation, from the start time of the preview instead of --max-age', async () => {
    const terminal = Object.assign(new PassThrough(), { isTTY: true });
    vi.spyOn(process, 'stdin', 'get').mockReturnValue(terminal as unknown as typeof process.stdin);
    terminal.write('y\n');
    expect(await send('--max-age', '1h', '--slot', 'none', 'stopped')).toBe('');
    expect(posted).toEqual([{ count: 2, checksum: 'ab12', since: LOOK.since, slot: ['none', 'stopped'] }]);
  });

  it('sends nothing if nobody can be asked, and if no message is missing', async () => {
    expect(await send()).toContain('2 messages will be sent; pass --count 2 --checksum ab12');
    looked = { ...LOOK, count: 3 };
    expect(await send()).toContain('2 messages and 1 question to a partner will be sent; pass --count 3');
    looked = { ...LOOK, count: 1, messages: 0 };
    expect(await send()).toContain('1 question to a partner will be sent; pass --count 1');
    looked = { ...LOOK, count: 0, messages: 0 };
    expect(await send()).toBe('');
    expect(posted).toEqual([]);
  });

  it.each([
    ['--count belongs to --checksum', ['--count', '2'], 'pass --count and --checksum together'],
    ['a number of messages', ['--count', 'all', '--checksum', 'ab12'], '--count must be the number'],
    ['messages per second', ['--rate', 'fast'], '--rate takes messages per second'],
  ])('refuses wrong options: %s', async (_what, options, message) => {
    expect(await send(...options)).toContain(message);
    expect(posted).toEqual([]);
  });
});

describe('the text of a stop', () => {
  it('names the jobs that cancel, and the questions that cannot be recalled', () => {
    const jobs = [{ id: 'job_9' } as JobBody];
    expect(stopText({ jobs, waiting_lookups: 0 })).toBe(
      'No more is sent. job_9 cancels what still waits: npx carillon jobs show job_9 --follow',
    );
    expect(stopText({ jobs, waiting_lookups: 2 })).toContain('2 questions wait for their partner');
    expect(stopText({ jobs, waiting_lookups: 1, uncounted_lookups: 700 })).toContain(
      '1 question waits for its partner and cannot be recalled. 700 older questions were not looked at.',
    );
  });
});
