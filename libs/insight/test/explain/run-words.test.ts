import { describe, expect, it } from 'vitest';
import {
  NO_READ_COUNTS,
  noRowCounts,
  type ReadCounts,
  type RowDifference,
  type CompareRun,
} from '@carillon/domain/runs';
import { describeRun, describeRunNotes, describeRunWarning, describeSlotState } from '../../src/index.ts';

const NOON = Date.parse('2026-11-29T12:00:00Z');
const DAY = 86_400_000;
type Numbers = Partial<Record<RowDifference | 'unchanged', number>>;

/** A run over the last 30 days with so many people and messages of each difference. */
function runWith(
  counts: Numbers,
  notified: Numbers = {},
  more: Partial<CompareRun> = {},
  read: Partial<ReadCounts> = {},
) {
  const none = noRowCounts();
  const { unchanged: _unchanged, ...people } = counts;
  const rows = {
    ...none,
    differences: { ...none.differences, ...counts },
    people: { ...none.people, ...people },
    notifiedPeople: { ...none.notifiedPeople, ...notified },
  };
  return {
    from: NOON - 30 * DAY,
    to: NOON,
    createdAt: NOON,
    logStartsAt: null,
    before: 7,
    published: 7,
    changes: [],
    notCompared: [],
    leftOut: [],
    notifications: ['order'],
    counts: { read: { ...NO_READ_COUNTS, ...read }, rows },
    ...more,
  };
}
const sentence = (...run: Parameters<typeof runWith>) => describeRun(runWith(...run));

describe('the sentence of a run', () => {
  it('says for how many people messages are added and removed, and how many were already notified', () => {
    expect(sentence({ added: 37, removed: 12, unchanged: 363 }, { added: 4 })).toBe(
      'Over the last 30 days, this edit would have added messages for 37 people and removed messages for 12. 363 messages are unchanged. Of the 37 people, 4 were already notified.',
    );
  });

  it.each<[Numbers, Numbers, string]>([
    [{ added: 1 }, {}, 'added messages for 1 person. No message is unchanged. This person was not yet notified.'],
    [
      { added: 1, unchanged: 1 },
      { added: 1 },
      'added messages for 1 person. 1 message is unchanged. This person was already notified.',
    ],
    [
      { added: 2, unchanged: 2 },
      {},
      'added messages for 2 people. 2 messages are unchanged. None of the 2 people was already notified.',
    ],
    [
      { added: 2, unchanged: 2 },
      { added: 1 },
      'added messages for 2 people. 2 messages are unchanged. Of the 2 people, 1 was already notified.',
    ],
    [
      { added: 2, unchanged: 2 },
      { added: 2 },
      'added messages for 2 people. 2 messages are unchanged. All 2 people were already notified.',
    ],
    [{ removed: 1, unchanged: 2 }, {}, 'removed messages for 1 person. 2 messages are unchanged.'],
    [{ changed: 5 }, {}, 'changed messages for 5 people. No message is unchanged.'],
    [
      { removed: 2, changed: 1 },
      {},
      'removed messages for 2 people and changed messages for 1. No message is unchanged.',
    ],
    [
      { added: 3, removed: 2, changed: 1, unchanged: 9 },
      {},
      'added messages for 3 people, removed messages for 2 and changed messages for 1. 9 messages are unchanged. None of the 3 people was already notified.',
    ],
    [{ unchanged: 4 }, {}, 'changed no message. 4 messages are unchanged.'],
  ])('counts %j with %j notified', (counts, notified, text) => {
    expect(sentence(counts, notified)).toBe(`Over the last 30 days, this edit would have ${text}`);
  });

  it('says that nothing is sent either way if no event fires', () => {
    expect(sentence({})).toBe('Over the last 30 days, no message would have been sent, with or without this edit.');
  });

  it('says that an edit of no notification changes nothing', () => {
    expect(sentence({}, {}, { notifications: [] })).toBe(
      'This edit changes no notification, so every message stays as it is.',
    );
  });

  it('names the range: days, one day, hours, or both ends', () => {
    const rangeOf = (more: Partial<CompareRun>) => sentence({ unchanged: 1 }, {}, more)?.split(', ')[0];
    expect(rangeOf({ from: NOON - DAY })).toBe('Over the last day');
    expect(rangeOf({ from: NOON - DAY / 2 })).toBe('Over the last 12 hours');
    expect(rangeOf({ createdAt: NOON + 1 })).toBe('From 2026-10-30T12:00:00.000Z to 2026-11-29T12:00:00.000Z');
  });

  it('is not there before the rows are counted', () => {
    expect(describeRun({ ...runWith({}), counts: null })).toBeNull();
    expect(describeRun({ ...runWith({}), counts: { read: NO_READ_COUNTS, rows: null } })).toBeNull();
  });
});

describe('the words of a run without an edit', () => {
  const versions = { before: 6, published: 7 };

  it('name the version instead of an edit', () => {
    expect(sentence({ added: 2, unchanged: 1 }, {}, versions)).toMatch(
      /^Over the last 30 days, this version would have added messages for 2 people\./,
    );
    expect(sentence({}, {}, versions)).toBe(
      'Over the last 30 days, no message would have been sent, with this version or with configuration 6.',
    );
    expect(sentence({}, {}, { ...versions, notifications: [] })).toMatch(/^This version changes no notification/);
    expect(describeRunWarning(runWith({ new_unique_id: 1 }, {}, versions))).toMatch(
      /^This version changes unique_id\./,
    );
  });

  it('name the other version in the notes', () => {
    const read = { needsLookup: 2, noAddress: { before: 3, after: 1 } };
    expect(describeRunNotes(runWith({ added: 1 }, {}, versions, read))).toEqual([
      '2 events need a lookup: no recorded answer says who is notified by both versions.',
      '1 message without a valid address with this version, 3 with configuration 6.',
    ]);
  });
});

describe('the warning of a run', () => {
  it('says how many people would be notified again if unique_id changes', () => {
    const warning = (count: number) => describeRunWarning(runWith({ new_unique_id: 40 }, { new_unique_id: count }));
    expect(warning(31)).toBe(
      'This edit changes unique_id. 31 people who were already notified would be notified again.',
    );
    expect(warning(1)).toBe('This edit changes unique_id. 1 person who was already notified would be notified again.');
    expect(warning(0)).toBe('This edit changes unique_id. Nobody who was already notified would be notified again.');
    expect(describeRunWarning(runWith({ added: 1 }))).toBeNull();
    expect(sentence({ new_unique_id: 40 })).toBe(
      'Over the last 30 days, this edit would have added and removed no other messages. No message is unchanged.',
    );
  });
});

describe('the notes of a run', () => {
  it('name everything that the numbers leave out', () => {
    const run = runWith(
      { added: 100_001 },
      {},
      {
        logStartsAt: NOON - DAY,
        notCompared: [
          { kind: 'integration', name: 'crm' },
          { kind: 'workspace', name: '' },
        ],
      },
      {
        needsLookup: 1,
        noAddress: { before: 0, after: 2 },
        ruleErrors: { before: 1, after: 1 },
        wouldWait: { before: 4, after: 5 },
        cold: { before: 0, after: 1 },
        unreadable: 3,
        pastRetention: 4,
      },
    );
    expect(describeRunNotes(run)).toEqual([
      'The log starts at 2026-11-28T12:00:00.000Z. Earlier events are not compared.',
      'Not compared: integration crm, workspace settings. Recorded events and answers stay as they are.',
      '1 event needs a lookup: no recorded answer says who is notified with the edit and without it.',
      '2 messages without a valid address with this edit, 0 without it.',
      '1 evaluation that ended in an error with this edit, 1 without it.',
      'Waits that end after the time range: 5 with this edit, 4 without it. Their messages are not compared.',
      'Uncertain messages: 1 with this edit, 0 without it. Earlier events of the same entity were not read.',
      '3 events cannot be parsed.',
      'Retention removed 4 events during the run.',
      'The list has the first 100000 of 100001 messages. Narrow the run by time or notification to see the rest.',
    ]);
    expect(describeRunNotes(runWith({ added: 1 }))).toEqual([]);
  });
});

describe('the slot state in words', () => {
  it('has the reason of a stopped delivery', () => {
    expect(describeSlotState({ slotState: 'none', slotReason: null })).toBe('never sent');
    expect(describeSlotState({ slotState: 'stopped', slotReason: 'capped' })).toMatch(/^not sent: \S/);
  });
});
