import type { RunMissingBody } from '@carillon/contracts';
import { Command } from 'commander';
import { describe, expect, it } from 'vitest';
import { missingText, selectionOf, selectionOptions, sendCommandOf, type SelectionOptions } from './replay-missing.ts';

const LOOK: RunMissingBody = {
  run: 'run_1',
  count: 33,
  checksum: 'ab12',
  since: '2026-11-22T09:00:00.000Z',
  messages: 33,
  people: 31,
  by_rule: [{ rule: 'order.paid', messages: 33, people: 31 }],
  needs_lookup: { events: 0, user_ids: 0 },
  oldest: '2026-11-23T08:12:00.000Z',
  newest: '2026-11-28T17:20:00.000Z',
  too_old: 4,
  rows: null,
};

describe('the text of missing messages', () => {
  it('shows messages, people, the age of their events, older events and counts by rule', () => {
    const lines = missingText(LOOK).split('\n');
    expect(lines.slice(0, 3)).toEqual([
      '33 messages to 31 people are missing.',
      'Events from 2026-11-23 08:12:00 to 2026-11-28 17:20:00',
      '4 older events skipped (before 2026-11-22 09:00:00)',
    ]);
    expect(lines[4]).toMatch(/^rule +messages +people$/);
    expect(lines[5]).toMatch(/^order.paid +33 +31$/);
  });

  it('shows events that need a lookup, with and without messages', () => {
    const asked = { needs_lookup: { events: 2, user_ids: 5 } };
    const first = (body: RunMissingBody) => missingText(body).split('\n')[0];
    expect(first({ ...LOOK, ...asked, count: 35 })).toBe(
      '33 messages to 31 people are missing. A partner is asked about 2 events with 5 user ids first.',
    );
    expect(first({ ...LOOK, ...asked, count: 2, messages: 0, people: 0 })).toBe(
      'A partner is asked about 2 events with 5 user ids first.',
    );
  });

  it('says so if no message is missing', () => {
    const none = { ...LOOK, count: 0, messages: 0, people: 0, by_rule: [], oldest: null, newest: null, too_old: 1 };
    expect(missingText(none).split('\n')).toEqual([
      'No message is missing.',
      '1 older event skipped (before 2026-11-22 09:00:00)',
    ]);
  });
});

describe('the command that sends missing messages', () => {
  const parsed = (text: string): SelectionOptions => {
    const parser = selectionOptions(new Command()).argument('<run>').option('--count <n>').option('--checksum <c>');
    return parser.parse(text.split(' ').slice(4), { from: 'user' }).opts();
  };

  it('selects the shown messages by time instead of age', () => {
    const options = { difference: ['added', 'changed'], slot: ['none', 'stopped'], rule: ['order.paid'], maxAge: '7d' };
    const text = sendCommandOf(LOOK, options);
    expect(text).toBe(
      'npx carillon replay send run_1 --difference added changed --slot none stopped --rule order.paid --since 2026-11-22T09:00:00.000Z --count 33 --checksum ab12',
    );
    const { maxAge: _age, ...rest } = options;
    expect(selectionOf(parsed(text))).toEqual({ ...rest, since: LOOK.since });
  });

  it('sends only number, checksum and time by default', () => {
    expect(sendCommandOf(LOOK, {})).toBe(
      'npx carillon replay send run_1 --since 2026-11-22T09:00:00.000Z --count 33 --checksum ab12',
    );
  });
});
