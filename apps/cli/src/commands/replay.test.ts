import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { RunBody, RunCountsBody } from '@carillon/contracts';
import { describe, expect, it, onTestFinished } from 'vitest';
import { runRequestOf } from './replay.ts';
import { rowCells, runCells, runProgressText, runText } from './replay-text.ts';

const NONE = { added: 0, removed: 0, changed: 0, new_unique_id: 0 };
const SLOTS = { notified: 0, waiting: 0, stopped: 0, none: 0 };
const COUNTS: RunCountsBody = {
  events: 400,
  needs_lookup: 0,
  no_address: { before: 0, after: 0 },
  rule_errors: { before: 0, after: 0 },
  unreadable: 0,
  past_retention: 0,
  would_wait: { before: 0, after: 0 },
  cold: { before: 0, after: 0 },
  differences: { ...NONE, added: 40, unchanged: 363 },
  slot_states: { added: { ...SLOTS, none: 40 }, removed: SLOTS, changed: SLOTS, new_unique_id: SLOTS },
  people: { ...NONE, added: 37 },
  notified_people: NONE,
  by_rule: [{ rule: 'order.paid', ...NONE, added: 40, unchanged: 363 }],
  by_day: [{ day: '2026-11-28', ...NONE, added: 40 }],
};
const RUN: RunBody = {
  id: 'run_1',
  workspace: 'shop',
  kind: 'compare',
  verified: null,
  state: 'done',
  from: '2026-10-30T12:00:00.000Z',
  to: '2026-11-29T12:00:00.000Z',
  log_starts_at: null,
  before: 12,
  published: 12,
  changes: [],
  notifications: ['order'],
  not_compared: [],
  progress: { read: 400, total: 400 },
  counts: COUNTS,
  sentence: 'Over the last 30 days, this edit would have added messages for 37 people.',
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

describe('the request of replay diff', () => {
  it('has the files of the folder, the range and the notifications', () => {
    const folder = mkdtempSync(join(tmpdir(), 'carillon-replay-'));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    writeFileSync(join(folder, 'carillon.yaml'), 'workspaces: [shop]\n');
    expect(runRequestOf({ file: folder, last: '7d', notification: ['order'], before: '12' })).toEqual({
      kind: 'compare',
      last: '7d',
      before: 12,
      folder: { files: { 'carillon.yaml': 'workspaces: [shop]\n' }, prune: false },
      notifications: ['order'],
    });
    expect(runRequestOf({ drafts: true, from: '2026-11-01', to: '2026-11-02' })).toEqual({
      kind: 'compare',
      from: '2026-11-01',
      to: '2026-11-02',
      drafts: true,
    });
  });

  it.each([
    [{ file: '.', drafts: true }, 'not both'],
    [{ drafts: true, prune: true }, '-f DIR'],
    [{ drafts: true, last: '7d', from: 'today' }, 'not both'],
    [{ drafts: true, from: 'today' }, 'together'],
    [{ drafts: true, before: 'twelve' }, 'configuration number'],
    [{}, 'name the edit'],
  ])('refuses %j', (options, message) => {
    expect(() => runRequestOf(options)).toThrow(message);
  });
});

describe('the text of a run', () => {
  it('is the sentence, then counts by rule and by day, then how to list the messages', () => {
    const lines = runText(RUN).split('\n');
    expect(lines[0]).toBe(RUN.sentence);
    expect(lines[2]).toMatch(/^rule +added +removed +changed +new unique_id +unchanged$/);
    expect(lines[3]).toMatch(/^order.paid +40 +0 +0 +0 +363$/);
    expect(lines[6]).toMatch(/^2026-11-28 +40 /);
    expect(lines.at(-1)).toBe('The messages: npx carillon replay rows run_1');
  });

  it('ends with what the numbers leave out', () => {
    const notes = ['1 event needs a lookup: no recorded answer says who is notified with the edit and without it.'];
    expect(runText({ ...RUN, notes })).toContain(`\n\n${notes[0]}\n\n`);
  });

  it('names both versions if nothing is edited', () => {
    expect(runText({ ...RUN, changes: [], before: 6, published: 7 })).toContain(
      'configuration 7 compared with configuration 6',
    );
    expect(runText({ ...RUN, changes: [], before: 7, published: 7 })).toContain('configuration 7 before the edit');
  });

  it('begins with the warning if unique_id changes', () => {
    const text = runText({ ...RUN, warning: 'This edit changes unique_id.' });
    expect(text.split('\n').slice(0, 2)).toEqual(['This edit changes unique_id.', RUN.sentence]);
  });

  it('names the reason of a run that failed, and no list', () => {
    const reason = { code: 'no_room', detail: 'The disk is full. Free 2 GiB and compare again.' };
    const text = runText({ ...RUN, state: 'failed', sentence: null, counts: null, reason });
    expect(text).toContain('run_1 is failed: The disk is full. Free 2 GiB and compare again.');
    expect(text).not.toContain('replay rows');
  });

  it('is the progress with the counts so far while the run is under way', () => {
    const run: RunBody = { ...RUN, state: 'running', progress: { read: 200, total: 400 }, ended_at: null };
    expect(runProgressText(run)).toBe('████████████░░░░░░░░░░░░  200 of 400 records, 400 events evaluated, running');
    expect(runText(run)).toBe(`run_1  ${runProgressText(run)}`);
    expect(runProgressText({ ...run, state: 'waiting', counts: null, progress: { read: 0, total: 0 } })).toBe(
      '░░░░░░░░░░░░░░░░░░░░░░░░  0 of 0 records, waiting',
    );
  });
});

describe('a list', () => {
  it('of runs has the people who would get or lose a message', () => {
    expect(runCells(RUN)).toEqual(['2026-11-29 12:00:00', 'run_1', 'compare', 'done', 'order', '37', '0', 'Ada']);
    expect(runCells({ ...RUN, counts: null }).slice(5, 7)).toEqual(['–', '–']);
  });

  it('of rows has no person or address if the event is gone', () => {
    const row = {
      slot: 'dlv_1',
      difference: 'added' as const,
      slot_state: 'none' as const,
      slot_state_words: 'never sent',
      delivery_id: null,
      rule: 'order.paid',
      channel: 'email',
      event: 'evt_1',
      at: '2026-11-28T12:00:00.000Z',
      day: '2026-11-28',
      cold: false,
      person: null,
      before: null,
      after: null,
    };
    expect(rowCells(row)).toEqual([
      '2026-11-28 12:00:00',
      'added',
      'never sent',
      'order.paid',
      'email',
      '–',
      '–',
      '–',
      'evt_1',
    ]);
  });
});
