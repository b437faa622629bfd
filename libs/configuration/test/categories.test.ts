import { formatFault, planChanges } from '@carillon/configuration';
import { EMPTY_CONFIGURATION, foldConfiguration } from '@carillon/domain/configuration';
import { describe, expect, test } from 'vitest';
import { notificationWith, read } from './support/folder.ts';
import { reading } from './support/small-language.ts';

const WORKSPACE = 'workspaces/shop/workspace.yaml';
const workspace = (categories: string) => ({ [WORKSPACE]: `name: Shop\n${categories}` });
const naming = (category: string) => notificationWith('channels:', `category: ${category}\nchannels:`);
const faults = (changes: Readonly<Record<string, string>>): readonly string[] => read(changes).faults.map(formatFault);

describe('a category that a notification names', () => {
  test('must be a category of the workspace', () => {
    const categories = 'categories:\n  orders: { name: Your orders, description: What you bought }\n  news: {}\n';
    expect(faults({ ...workspace(categories), ...naming('orders') })).toEqual([]);
    expect(faults({ ...workspace(categories), ...naming('news') })).toEqual([]);
  });

  test.each([
    ['order', 'did you mean orders?'],
    ['purchases', 'did you mean orders?'],
    ['something-else', 'write categories: { something-else: {} } into workspaces/shop/workspace.yaml'],
  ])('is refused as %s, with the nearest name', (category, fix) => {
    const found = faults({ ...workspace('categories: { orders: { was: [purchases] } }\n'), ...naming(category) });
    expect(found).toHaveLength(1);
    expect(found[0]).toContain(`order-paid.yaml:1:`);
    expect(found[0]).toContain(`there is no category ${category}`);
    expect(found[0]).toContain(fix);
  });

  test('is refused in a workspace without any, with what to write', () => {
    expect(faults(naming('orders'))).toEqual([expect.stringContaining('write categories: { orders: {} } into')]);
  });
});

describe('an old name of a category', () => {
  test.each([
    ['categories: { orders: { was: [news] }, news: {} }\n', 'news already belongs to the category news'],
    ['categories: { orders: { was: [old] }, news: { was: [old] } }\n', 'old already belongs to the category orders'],
    ['categories: { orders: { was: [] } }\n', 'at least one name'],
    ['categories: { orders: { was: old } }\n', 'was'],
    ['categories: { Orders: {} }\n', 'a name of a-z'],
    ['categories: { orders: { title: Orders } }\n', 'title'],
  ])('in %j is refused', (categories, words) => {
    const found = faults(workspace(categories));
    expect(found.length).toBeGreaterThan(0);
    expect(found[0]).toContain('workspace.yaml:2:');
    expect(found.join(' ')).toContain(words);
  });
});

describe('a removed category', () => {
  const options = { prune: false, newId: (kind: string) => `${kind}_new`, ...reading };
  /** What applying a folder over another comes to. */
  function over(before: Readonly<Record<string, string>>, after: Readonly<Record<string, string>>) {
    const first = planChanges(EMPTY_CONFIGURATION, read(before).resources, options);
    expect(first.faults).toEqual([]);
    const record = { changes: first.record };
    const current = foldConfiguration(EMPTY_CONFIGURATION, record, 1).configuration;
    return planChanges(current, read(after).resources, options).faults.map(({ message, fix }) => `${message}; ${fix}`);
  }
  const orders = { ...workspace('categories: { orders: {} }\n'), ...naming('orders') };
  const GONE = [
    expect.stringContaining('without the category orders, the opt-outs from it are lost; write was: [orders]'),
  ];

  test('is refused, because it would remove the opt-outs of people', () => {
    expect(over(orders, { ...workspace('categories: { updates: {} }\n'), ...naming('updates') })).toEqual(GONE);
    expect(over(orders, workspace(''))).toEqual(GONE);
  });

  test('may become the old name of another category, and has to stay one', () => {
    const renamed = { ...workspace('categories: { updates: { was: [orders] } }\n'), ...naming('updates') };
    expect(over(orders, renamed)).toEqual([]);
    expect(over(renamed, { ...workspace('categories: { updates: {} }\n'), ...naming('updates') })).toEqual(GONE);
    expect(
      over(renamed, { ...workspace('categories: { letters: { was: [updates, orders] } }\n'), ...naming('letters') }),
    ).toEqual([]);
  });

  test('is not one that only lost its last notification', () => {
    expect(over(orders, workspace('categories: { orders: {} }\n'))).toEqual([]);
  });
});
