import type { SourceBody } from '@carillon/contracts';
import { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import type { Client } from '../client.ts';
import { resetSource, showSources, sourceCommands } from './sources.ts';

const SPAN = 'Changes from 09:12:04 UTC to the moment of the reset will never be read.';
const STOPPED: SourceBody = {
  workspace: 'shop',
  name: 'shop-db',
  kind: 'postgres',
  state: 'stopped',
  reason: 'slot_gone',
  sentence: 'Changes since 09:12:04 UTC were not read: the slot was dropped.',
  fix: 'npx carillon sources reset shop-db --workspace shop --reason TEXT',
  since: '2026-11-28T09:12:09.000Z',
  lag_seconds: 540,
  lag_bytes: 3_145_728,
  lag_records: null,
  last_change_at: '2026-11-28T09:12:04.000Z',
  read_until: '2026-11-28T09:12:04.000Z',
  continues_at: 'now',
  span: SPAN,
  span_at_end: null,
  reset_requested_at: null,
  streams: ['orders', 'refunds'],
  tables: [],
};
const RUNNING: SourceBody = {
  ...STOPPED,
  name: 'books',
  state: 'running',
  reason: null,
  sentence: 'Carillon reads the changes, except those of 1 of 1 tables.',
  fix: null,
  lag_seconds: 0,
  lag_bytes: null,
  last_change_at: null,
  span: null,
  tables: [
    {
      table: 'public.log',
      since: null,
      problem: {
        reason: 'no_identity',
        sentence: 'The table has no key.',
        fix: 'ALTER TABLE log\n  REPLICA IDENTITY FULL;',
      },
      lag_records: null,
      gap: 'Changes since 09:12:04 UTC are not read.',
    },
  ],
};

const BUS: SourceBody = {
  ...STOPPED,
  name: 'bus',
  kind: 'kafka',
  reason: 'records_gone',
  lag_bytes: null,
  lag_records: 1204,
  continues_at: 'oldest',
  span: 'The topics held 1204 records when the source stopped. All of them will be read.',
  span_at_end: 'The topics held 1204 records when the source stopped. None of them will be read.',
};

/** Answers with a source, and keeps what is posted. */
function clientOf(source: SourceBody) {
  const posted: unknown[] = [];
  const client = {
    reach: 'shop',
    get: async () => source,
    post: async (path: string, body: unknown) => (posted.push([path, body]), source),
  } as unknown as Client;
  return { client, posted };
}

describe('carillon sources', () => {
  it('prints a line for each source, and below it each problem with the command or SQL that fixes it', () => {
    expect(showSources({ items: [RUNNING, STOPPED] }, false)).toBe(
      [
        'source   state    lag             last change          streams',
        'books    running  0 s             none yet             orders, refunds',
        'shop-db  stopped  540 s, 3.0 MiB  2026-11-28 09:12:04  orders, refunds',
        '',
        'books: The table has no key.',
        '        ALTER TABLE log',
        '          REPLICA IDENTITY FULL;',
        '',
        'books: public.log: Changes since 09:12:04 UTC are not read.',
        '',
        'shop-db: Changes since 09:12:04 UTC were not read: the slot was dropped.',
        '        npx carillon sources reset shop-db --workspace shop --reason TEXT',
      ].join('\n'),
    );
  });

  it('prints the lag of Kafka in records', () => {
    const [, line] = showSources({ items: [{ ...BUS, state: 'running', lag_seconds: 4 }] }, false).split('\n');
    expect(line).toContain('4 s, 1204 records');
    const [, stopped] = showSources({ items: [BUS] }, false).split('\n');
    expect(stopped).toContain('1204 records in the topics when it stopped');
    const [, reset] = showSources({ items: [{ ...BUS, state: 'running', lag_seconds: null }] }, false).split('\n');
    expect(reset).toContain('running  1204 records');
  });

  it('says that there is none', () => {
    expect(showSources({ items: [] }, false)).toBe('no stream reads a database or Kafka yet');
  });
});

describe('carillon sources reset', () => {
  const options = { reason: 'checked by hand' };

  it('sends the start of the span that was shown', async () => {
    const { client, posted } = clientOf(STOPPED);
    await resetSource(client, 'shop-db', { ...options, yes: true });
    expect(posted).toEqual([
      ['/v1/workspaces/shop/sources/shop-db/reset', { reason: 'checked by hand', from: '2026-11-28T09:12:04.000Z' }],
    ]);
  });

  it('shows the span and resets nothing if nobody can confirm it', async () => {
    const { client, posted } = clientOf(STOPPED);
    await expect(resetSource(client, 'shop-db', options)).rejects.toThrow(`${SPAN.slice(0, -1)}; pass --yes`);
    expect(posted).toEqual([]);
  });

  it('starts at the end of the topics with --from end, and says how many records that skips', async () => {
    const { client, posted } = clientOf(BUS);
    await expect(resetSource(client, 'bus', options)).rejects.toThrow('All of them will be read');
    await expect(resetSource(client, 'bus', { ...options, from: 'end' })).rejects.toThrow('None of them will be read');
    await expect(resetSource(client, 'bus', { ...options, from: 'noon' })).rejects.toThrow(
      '--from must be end or oldest',
    );
    await resetSource(client, 'bus', { ...options, from: 'end', yes: true });
    expect(posted).toEqual([
      ['/v1/workspaces/shop/sources/bus/reset', { reason: options.reason, from: BUS.read_until, at: 'end' }],
    ]);
  });

  it('lets the API refuse a source that cannot be reset, without a question', async () => {
    const { client, posted } = clientOf(RUNNING);
    await resetSource(client, 'books', options);
    expect(posted).toHaveLength(1);
  });

  it('needs a reason', async () => {
    const program = new Command('carillon').exitOverride();
    sourceCommands(program);
    const run = program.parseAsync(['sources', 'reset', 'shop-db'], { from: 'user' });
    await expect(run).rejects.toThrow('reset needs --reason <text>');
  });
});
