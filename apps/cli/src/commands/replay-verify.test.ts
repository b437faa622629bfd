import type { RunBody, RunFindingBody, WhyNotBody } from '@carillon/contracts';
import { Command } from 'commander';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { findingsCommand, verifyCommand } from './replay-verify.ts';
import { whyNotCommands } from './why-not.ts';

const NO_FINDINGS = {
  events: 400,
  same: 363,
  missing: 0,
  no_cause: 0,
  different: 0,
  unknown_configuration: 0,
  other_semantics: 0,
  not_evaluated: 0,
  unreadable: 0,
  past_retention: 0,
  not_from_events: 0,
  would_wait: 0,
  cold: 0,
};
const RUN: RunBody = {
  id: 'run_1',
  workspace: 'shop',
  kind: 'verify',
  verified: NO_FINDINGS,
  state: 'done',
  from: '2026-10-30T12:00:00.000Z',
  to: '2026-11-29T12:00:00.000Z',
  log_starts_at: null,
  before: null,
  published: 12,
  changes: [],
  notifications: [],
  not_compared: [],
  progress: { read: 400, total: 400 },
  counts: null,
  sentence: '400 events evaluated again give what the log has.',
  warning: null,
  find: null,
  notes: [],
  checksum: 'ab',
  reason: null,
  job: 'job_1',
  created_by: { kind: 'person', id: 'per_1', name: 'Ada' },
  created_at: '2026-11-29T12:00:00.000Z',
  ended_at: '2026-11-29T12:00:10.000Z',
  kept_until: '2026-12-29T12:00:10.000Z',
};
const FINDING: RunFindingBody = {
  problem: 'different',
  output: 'intent',
  id: 'int_1',
  field: 'send_at',
  rule: 'order-paid.paid',
  event: 'evt_1',
  event_position: 'carillon.events/3@1207',
  position: 'carillon.intents/1@402',
};
const LOOKED = { events: 1000, judged_again: 0, deliveries: 0, complete: true, not_kept: 0, since: null };
const ANSWER: WhyNotBody = {
  workspace: 'shop',
  who: 'ada@example.com',
  notification: 'order-paid',
  from: RUN.from,
  to: RUN.to,
  verdict: 'no_event',
  sentence: 'No event named them.',
  gate: 'event',
  event: null,
  delivery: null,
  rule: null,
  gates: [],
  with_drafts: null,
  drafts_left_out: [],
  others: [],
  last: null,
  looked: LOOKED,
  next: null,
};

let server: Server;
let started: RunBody;
let ended: RunBody;
let findings: { readonly items: readonly RunFindingBody[]; readonly next: string | null };
let answered: WhyNotBody;
const calls: (readonly [call: string, body?: unknown])[] = [];
const bodyOf = (method: string, path: string): unknown => {
  if (path.endsWith('/why-not')) return answered;
  if (path.endsWith('/findings')) return findings;
  return method === 'POST' ? started : ended;
};

let output = '';
beforeEach(async () => {
  calls.length = 0;
  output = '';
  [started, ended, answered] = [{ ...RUN, state: 'waiting', ended_at: null }, RUN, ANSWER];
  findings = { items: [FINDING], next: null };
  server = createServer((request, response) => {
    const { method = '', url = '' } = request;
    let text = '';
    request.on('data', (chunk: Buffer) => (text += chunk.toString()));
    request.on('end', () => {
      const what = `${method} ${url}`;
      calls.push(text === '' ? [what] : [what, JSON.parse(text)]);
      response.setHeader('content-type', 'application/json');
      response.end(JSON.stringify(bodyOf(method, url.split('?')[0] ?? '')));
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  vi.stubEnv('CARILLON_TOKEN', 't');
  vi.spyOn(process.stdout, 'write').mockImplementation((text) => {
    output += String(text);
    return true;
  });
});
afterEach(() => {
  vi.restoreAllMocks();
  vi.unstubAllEnvs();
  process.exitCode = undefined;
  server.close();
});

const RUNS = '/v1/workspaces/shop/runs';
/** Runs a command and returns the message of its error. */
async function call(...words: readonly string[]): Promise<string> {
  const program = new Command().exitOverride();
  verifyCommand(program, async () => RUNS);
  findingsCommand(program, async () => RUNS);
  whyNotCommands(program);
  const { port } = server.address() as AddressInfo;
  try {
    await program.parseAsync([...words, '--url', `http://127.0.0.1:${port}`, '--workspace', 'shop'], { from: 'user' });
    return '';
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

describe('carillon replay verify', () => {
  it('prints the result of the time range, and asks for no findings if there are none', async () => {
    expect(await call('verify', '--last', '7d')).toBe('');
    expect(output).toContain('400 events evaluated again give what the log has.');
    expect(calls).toEqual([[`POST ${RUNS}`, { kind: 'verify', last: '7d' }], [`GET ${RUNS}/run_1`]]);
    expect(process.exitCode).toBeUndefined();
  });

  it('prints the first findings and how to list all of them, and ends with exit code 1', async () => {
    ended = { ...RUN, verified: { ...NO_FINDINGS, different: 30 } };
    findings = { items: [FINDING], next: 'more' };
    expect(await call('verify')).toBe('');
    expect(calls.at(-1)).toEqual([`GET ${RUNS}/run_1/findings?limit=20`]);
    expect(output).toMatch(/problem +field +rule +output/);
    expect(output).toMatch(
      /different +send_at +order-paid.paid +int_1 +evt_1 +carillon.events\/3@1207 +carillon.intents\/1@402/,
    );
    expect(output).toMatch(/All of them: .*carillon replay findings run_1/);
    expect(process.exitCode).toBe(1);
  });

  it('ends with exit code 1 if the verification did not end with a result', async () => {
    const reason = { code: 'no_room', detail: 'the disk has no room for the scratch file of the run' };
    ended = { ...RUN, state: 'failed', sentence: null, reason };
    expect(await call('verify')).toBe('');
    expect(output).toContain('the disk has no room for the scratch file of the run');
    expect(process.exitCode).toBe(1);
  });

  it('returns at once with --no-wait', async () => {
    expect(await call('verify', '--no-wait')).toBe('');
    expect(output).toMatch(/run_1 has begun: .*carillon replay show run_1 --follow/);
    expect(calls).toHaveLength(1);
  });

  it('refuses a contradictory time range', async () => {
    expect(await call('verify', '--last', '7d', '--from', '2026-11-01')).toContain('not both');
    expect(await call('verify', '--from', '2026-11-01')).toContain('pass --from and --to together');
    expect(calls).toEqual([]);
  });
});

describe('carillon replay findings', () => {
  it('prints a page and the cursor of the next', async () => {
    findings = { items: [{ ...FINDING, problem: 'no_cause', field: null }], next: 'abc' };
    expect(await call('findings', 'run_1', '--limit', '1', '--cursor', 'xyz')).toBe('');
    expect(calls).toEqual([['GET /v1/workspaces/shop/settings'], [`GET ${RUNS}/run_1/findings?limit=1&cursor=xyz`]]);
    expect(output).toMatch(/without cause +– +order-paid.paid/);
    expect(output).toContain('abc');
  });

  it('prints the page as JSON', async () => {
    expect(await call('findings', 'run_1', '--json')).toBe('');
    expect(JSON.parse(output)).toEqual(findings);
  });
});

describe('carillon why-not --search', () => {
  const question = { who: 'ada@example.com', notification: 'order-paid' };
  const ask = (...options: readonly string[]) => call('why-not', question.who, question.notification, ...options);
  const find: RunBody = { ...RUN, kind: 'find', verified: null };

  it('searches a time range, then explains the found events', async () => {
    [started, ended] = [{ ...find, state: 'waiting', ended_at: null }, find];
    expect(await ask('--search', '--last', '30d', '--drafts')).toBe('');
    expect(calls).toEqual([
      [`POST ${RUNS}`, { kind: 'find', text: question.who, last: '30d' }],
      [`GET ${RUNS}/run_1`],
      ['POST /v1/workspaces/shop/why-not', { ...question, drafts: true, search: 'run_1' }],
    ]);
  });

  it('explains the events of a finished search, and says how many were not stored', async () => {
    const since = '2026-11-20T08:00:00.001Z';
    answered = { ...ANSWER, looked: { ...LOOKED, complete: false, not_kept: 345, since } };
    expect(await ask('--search', 'run_1')).toBe('');
    expect(calls).toEqual([['POST /v1/workspaces/shop/why-not', { ...question, search: 'run_1' }]]);
    expect(output).toContain(
      `345 older events also contain the text, but the search did not store them: --search --to ${since}`,
    );
  });

  it('explains nothing if the search failed', async () => {
    const reason = { code: 'cancelled', detail: 'somebody cancelled the search' };
    [started, ended] = [find, find].map((run) => ({ ...run, state: 'cancelled' as const, sentence: null, reason })) as [
      RunBody,
      RunBody,
    ];
    expect(await ask('--search')).toBe('');
    expect(output).toContain('omebody cancelled the search');
    expect(calls).toHaveLength(1);
    expect(process.exitCode).toBe(1);
  });

  it('refuses options that contradict a search', async () => {
    expect(await ask('--search', 'run_1', '--last', '30d')).toContain('run_1 has a time range of its own');
    expect(await ask('--search', '--event', 'evt_1')).toContain('pass --event or --search, not both');
    expect(calls).toEqual([]);
  });
});
