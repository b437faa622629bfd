import { formatFault, planChanges } from '@carillon/configuration';
import { EMPTY_CONFIGURATION, foldConfiguration } from '@carillon/domain/configuration';
import { describe, expect, test } from 'vitest';
import { notificationWith, read } from './support/folder.ts';
import { reading } from './support/small-language.ts';

const limits = (list: string, more = '') =>
  notificationWith('channels:', `cadence: { limits: [${list}] }\n${more}channels:`);
const workspace = (list: string) => ({ 'workspaces/shop/workspace.yaml': `cadence: { limits: [${list}] }\n` });
const faults = (changes: Readonly<Record<string, string>>): readonly string[] => read(changes).faults.map(formatFault);
const warnings = (changes: Readonly<Record<string, string>>): readonly string[] =>
  read(changes)
    .warnings.map(({ message }) => message)
    .filter((message) => !message.includes('API key'));

describe('frequency limits in a file', () => {
  test('are accepted rolling and by calendar, for a notification by channels, for a workspace by category or channel', () => {
    const own = '{ max: 3, per: 1d, then: drop }, { max: 10, per: calendar month, channels: [sms, push], then: drop }';
    const common = [
      '{ category: marketing, max: 2, per: calendar week, then: drop }',
      '{ channel: sms, max: 5, per: 1d, then: hold }',
      '{ max: 1000, per: 92d, then: drop }',
      '{ max: 1, per: 1m, then: digest }',
    ].join(', ');
    expect([faults({ ...limits(own), ...workspace(common) }), warnings({ ...limits(own) })]).toEqual([[], []]);
  });

  test.each([
    ['none at all', '{ max: 0, per: 1d, then: drop }', 'a whole number from 1 to 1000'],
    ['too many', '{ max: 1001, per: 1d, then: drop }', 'a whole number from 1 to 1000'],
    ['half a message', '{ max: 1.5, per: 1d, then: drop }', 'expected a whole number'],
    ['text', '{ max: three, per: 1d, then: drop }', 'expected a number'],
    ['a window that is too long', '{ max: 1, per: 93d, then: drop }', 'a duration from 1m to 92d'],
    ['a window that is too short', '{ max: 1, per: 59s, then: drop }', 'a duration from 1m to 92d'],
    ['a window that is none', '{ max: 1, per: daily, then: drop }', 'calendar day'],
    ['a year', '{ max: 1, per: calendar year, then: drop }', 'calendar month'],
    ['no word for what is over it', '{ max: 1, per: 1d }', 'then'],
    ['another word', '{ max: 1, per: 1d, then: wait }', 'digest'],
    ['a scope', '{ max: 1, per: 1d, then: drop, scope: person }', 'scope'],
    ['a category, which is the workspace’s', '{ max: 1, per: 1d, then: drop, category: orders }', 'category'],
    ['no channel', '{ max: 1, per: 1d, then: drop, channels: [] }', 'at least one channel'],
  ])('are refused with %s, with file, line and fix', (_what, limit, words) => {
    const found = faults(limits(limit));
    expect(found).toHaveLength(1);
    expect(found[0]).toMatch(/^workspaces\/shop\/notifications\/order-paid\.yaml:1:/);
    expect(found[0]).toContain(words);
  });

  test('are refused beyond twenty, and in a workspace with the key channels of a notification', () => {
    const many = Array.from({ length: 21 }, () => '{ max: 1, per: 1d, then: drop }').join(', ');
    expect(faults(limits(many))).toEqual([expect.stringContaining('at most 20 limits')]);
    expect(faults(workspace('{ max: 1, per: 1d, then: drop, channels: [sms] }'))).toEqual([
      expect.stringMatching(/^workspaces\/shop\/workspace\.yaml:1:.*channels/),
    ]);
  });

  test('are refused with a digest that the notification lacks; those of a workspace then hold', () => {
    expect(faults(limits('{ max: 1, per: 1d, then: drop }, { max: 9, per: 1d, then: digest }'))).toEqual([
      expect.stringMatching(
        /order-paid\.yaml:1:\d+ {2}cadence\.limits\[1\]\.then: .*no digest to collect the messages over the limit/,
      ),
    ]);
    expect(faults(workspace('{ max: 9, per: 1h, then: digest }'))).toEqual([]);
  });

  test('cause a warning if messages expire before a hold may end, for the notification and the workspace', () => {
    expect(warnings(limits('{ max: 1, per: calendar week, then: hold }', 'expires: 2d\n'))).toEqual([
      expect.stringContaining(
        'the limit of at most 1 message a calendar week of this notification holds messages for up to 1w, and messages are given up after 2d',
      ),
    ]);
    expect(warnings(limits('{ max: 1, per: 2d, then: drop }', 'expires: 1d\n'))).toEqual([]);
    expect(warnings(limits('{ max: 1, per: 1d, then: hold }', 'expires: 1d\n'))).toEqual([]);
    const common = workspace('{ max: 1, per: 2d, then: hold }');
    expect(warnings({ ...notificationWith('channels:', 'expires: 1d\nchannels:'), ...common })).toEqual([
      expect.stringContaining('the limit of the workspace of at most 1 message in 2d holds messages for up to 2d'),
    ]);
    for (const uncounted of [
      '{ category: other, max: 1, per: 2d, then: hold }',
      '{ channel: sms, max: 1, per: 2d, then: hold }',
    ])
      expect(warnings({ ...notificationWith('channels:', 'expires: 1d\nchannels:'), ...workspace(uncounted) })).toEqual(
        [],
      );
  });

  test('cause a warning if the notification is transactional; those of the workspace then do not apply', () => {
    const common = workspace('{ max: 1, per: 9d, then: hold }');
    expect(warnings({ ...limits('{ max: 1, per: 1d, then: drop }', 'transactional: true\n'), ...common })).toEqual([
      expect.stringContaining('transactional'),
    ]);
  });

  test('of a workspace cause a warning for a remaining notification outside the folder', () => {
    const plan = (current: typeof EMPTY_CONFIGURATION, files: Readonly<Record<string, string | null>>) => {
      const options = {
        prune: false,
        newId: (kind: string) => `${kind}_1`,
        language: reading.language,
        templates: reading.templates,
      };
      return planChanges(current, read(files).resources, options);
    };
    const { record } = plan(EMPTY_CONFIGURATION, notificationWith('channels:', 'expires: 2h\nchannels:'));
    const facts = { changes: record };
    const current = foldConfiguration(EMPTY_CONFIGURATION, facts, 1).configuration;
    const alone = {
      ...workspace('{ max: 1, per: 1d, then: hold }'),
      'workspaces/shop/streams/orders.yaml': null,
      'workspaces/shop/templates/order-paid/email.yaml': null,
      'workspaces/shop/templates/order-paid/email.html': null,
      'workspaces/shop/notifications/order-paid.yaml': null,
    };
    expect(plan(current, alone).warnings.map(({ message }) => message)).toEqual([
      expect.stringContaining(
        'the limit of at most 1 message in 1d holds messages for up to 1d, and messages of order-paid are given up after 2h',
      ),
    ]);
  });
});
