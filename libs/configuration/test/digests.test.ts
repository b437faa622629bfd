import { formatFault } from '@carillon/configuration';
import { describe, expect, test } from 'vitest';
import { notificationWith, read } from './support/folder.ts';

const digest = (body: string, more = '') =>
  notificationWith('channels:', `cadence: { digest: ${body} }\n${more}channels:`);
const faults = (body: string, more = ''): readonly string[] => read(digest(body, more)).faults.map(formatFault);
const warnings = (body: string, more = ''): readonly string[] =>
  read(digest(body, more))
    .warnings.map(({ message }) => message)
    .filter((message) => !message.includes('API key'));

describe('a digest in a file', () => {
  test.each([
    '{ window: { fixed: 1h } }',
    '{ when: over_limit, key: event.project, window: { sliding: 10m, at_most: 2h }, max_items: 500 }',
    '{ window: { at: ["08:00", "17:00"], days: [mon, fri] }, template: order-paid }',
  ])('is accepted: %s', (body) => expect([faults(body), warnings(body, 'expires: 1w\n')]).toEqual([[], []]));

  test.each([
    ['no window', '{ max_items: 5 }', 'window'],
    ['a window that is none', '{ window: 1h }', '{ fixed: 1h }'],
    ['a sliding window without an end', '{ window: { sliding: 10m } }', 'at_most'],
    ['two windows', '{ window: { fixed: 1h, sliding: 10m, at_most: 2h } }', 'remove fixed'],
    ['a time that is none', '{ window: { at: ["8:00"] } }', 'a time such as "21:00", in quotes'],
    ['no time', '{ window: { at: [] } }', 'at least one time'],
    ['no day', '{ window: { at: ["08:00"], days: [] } }', 'at least one day'],
    ['a window of a second', '{ window: { fixed: 1s } }', 'a duration from 1m to 31d'],
    ['a window of a year', '{ window: { fixed: 365d } }', 'a duration from 1m to 31d'],
    ['no items', '{ window: { fixed: 1h }, max_items: 0 }', '1 to 500'],
    ['501 items', '{ window: { fixed: 1h }, max_items: 501 }', '1 to 500'],
    ['a word for when that is none', '{ when: never, window: { fixed: 1h } }', 'over_limit'],
    ['a key that is an object', '{ key: { project: 1 }, window: { fixed: 1h } }', 'an expression (CEL)'],
    ['a template that is not there', '{ window: { fixed: 1h }, template: order-payed }', 'order-paid'],
    ['a time twice', '{ window: { at: ["08:00", "08:00"] } }', 'each time once'],
    ['an end before the first step', '{ window: { sliding: 2h, at_most: 10m } }', '2h or longer'],
  ])('is refused with %s, with file, line and fix', (_what, body, words) => {
    const found = faults(body);
    expect(found.join('\n')).toContain(words);
    for (const one of found) expect(one).toMatch(/^workspaces\/shop\/notifications\/order-paid\.yaml:1:/);
  });

  test('is refused with a template that lacks a channel of the notification', () => {
    const files = {
      ...notificationWith('channels:', 'cadence: { digest: { window: { fixed: 1h }, template: short } }\nchannels:'),
      'workspaces/shop/templates/short/sms.txt': '{{ count }} orders',
    };
    expect(read(files).faults.map(formatFault)).toEqual([
      expect.stringContaining('email has no text yet in the template short'),
    ]);
  });

  test.each([
    ['{ window: { fixed: 3h } }', '3h'],
    ['{ window: { sliding: 10m, at_most: 4h } }', '4h'],
    ['{ window: { at: ["08:00", "17:00"] } }', '15h'],
    ['{ window: { at: ["08:00"], days: [mon, tue, wed, thu, fri] } }', '3d'],
  ])('causes a warning if its window is longer than expires: %s', (body, longest) => {
    expect(warnings(body, 'expires: 2h\n')).toEqual([
      expect.stringContaining(`the digest collects for up to ${longest}, and messages are given up after 2h`),
    ]);
    expect(warnings(body, 'expires: 1w\n')).toEqual([]);
  });
});
