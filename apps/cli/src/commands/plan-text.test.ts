import type { PlanBody } from '@carillon/contracts';
import { describe, expect, it } from 'vitest';
import { changeLines } from './draft-text.ts';
import { showApplied, showDiff } from './plan-text.ts';

const place = { file: 'workspaces/shop/notifications/paid.yaml', line: 4, column: 3, path: 'rules.paid' };
const warning = { ...place, message: 'unique_id is left out', expected: '', fix: 'write unique_id: event_id' };
const mistake = { ...place, message: 'unknown function `lenght`', expected: 'a valid expression (CEL)', fix: '' };
const plan: PlanBody = { number: 7, faults: [], warnings: [], changes: [], unchanged: 0 };
const applied = (more: Partial<PlanBody>, number: number | null) => ({
  ...plan,
  ...more,
  applied: number !== null,
  new_number: number,
  draft_conflicts: [],
});

describe('the text of apply and diff', () => {
  it('distinguishes warnings from mistakes without colors, and counts both', () => {
    expect(showApplied(applied({ faults: [mistake], warnings: [warning, warning] }, null), 'shop')).toBe(
      [
        'shop/workspaces/shop/notifications/paid.yaml:4:3 unknown function `lenght`',
        '    expected a valid expression (CEL)',
        ...[1, 2].flatMap(() => [
          'shop/workspaces/shop/notifications/paid.yaml:4:3 warning: unique_id is left out',
          '    write unique_id: event_id',
        ]),
        '',
        '1 mistake, nothing was applied; 2 warnings',
      ].join('\n'),
    );
    expect(showDiff({ ...plan, faults: [mistake, mistake], warnings: [warning] }, 'shop')).toMatch(
      /\n\n2 mistakes; 1 warning$/,
    );
  });

  it('does not block applying because of warnings', () => {
    expect(showApplied(applied({ warnings: [warning] }, 8), 'shop')).toMatch(
      /warning: unique_id .*\n.*\n\napplied as configuration 8; .*; 1 warning$/,
    );
    expect(showDiff({ ...plan, warnings: [warning] }, 'shop')).toMatch(
      /\n\nnothing would change \(configuration 7\); 1 warning$/,
    );
  });

  it('says how many people a removed notification notified, and how many still wait', () => {
    const gone = {
      action: 'delete',
      resource: 'notification shop/paid',
      note: null,
      told: 12,
      waiting: 3,
      fields: [],
    } as const;
    const words = (more: object) =>
      showDiff({ ...plan, changes: [{ ...gone, ...more, formers: [], fields: [] }] }, 'shop');
    expect(words({})).toContain('(12 people were notified by it; waiting messages to 3 people are not sent)');
    expect(words({ told: 1, waiting: 1 })).toContain(
      '(1 person was notified by it; waiting messages to 1 person are not sent)',
    );
    expect(words({ waiting: 0 })).toContain('(12 people were notified by it)');
    expect(words({ told: null, waiting: null })).not.toContain('(');
  });

  it('is one line without changes and mistakes', () => {
    expect(showDiff(plan, 'shop')).toBe('nothing would change (configuration 7)');
    expect(showApplied(applied({}, null), 'shop')).toBe('nothing to change (configuration 7)');
  });
});

describe('a note of a change', () => {
  const note = '2 entities wait by rule unpaid, which is removed: their waits end without a message';
  const change: PlanBody['changes'][number] = {
    action: 'delete',
    resource: 'notification shop/order-paid',
    note,
    formers: [],
    told: 3,
    waiting: 0,
    fields: [],
  };

  it('is shown in diff and in the review of drafts, also next to the people of a deletion', () => {
    const head = '- notification shop/order-paid';
    expect(showDiff({ ...plan, changes: [change] }, 'shop')).toBe(`${head}  (3 people were notified by it)  ${note}`);
    expect(changeLines([change])).toEqual([`${head} (3 people were notified by it)`, `    ${note}`]);
    const update = { ...change, action: 'update', told: null, waiting: null } as const;
    expect(changeLines([update])).toEqual(['~ notification shop/order-paid', `    ${note}`]);
  });
});
