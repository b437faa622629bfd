import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  changesOf,
  configurationOf,
  notification,
  ORDER_PAID,
  ORDERS,
  orderShop,
  PAID_MAIL,
  recordOf,
  stream,
  template,
  type Wish,
} from '@carillon/testing/given';
import {
  canonical,
  EMPTY_CONFIGURATION,
  findResource,
  findRule,
  findRuleOf,
  readRuleTitle,
  foldConfiguration,
  listResources,
  ruleIdOf,
  streamTable,
  type Configuration,
  type ConfigurationRecord,
  type NotificationBody,
} from '../../src/configuration/index.ts';

const rule = ORDER_PAID.rules['paid'];
if (!rule) throw new Error('there is a rule');
const withRules = (rules: NotificationBody['rules']): NotificationBody => ({ ...ORDER_PAID, rules });
const versionsOf = (configuration: Configuration) =>
  findResource(configuration, 'notification', 'shop', 'order-paid')?.ruleVersions;

describe('applying a configuration record from the log', () => {
  it('gives every changed resource the new number, and keeps the numbers of the others', () => {
    const configuration = configurationOf([stream('orders', ORDERS)], [template('order-paid', PAID_MAIL)]);
    expect(configuration.number).toBe(1);
    expect(findResource(configuration, 'stream', 'shop', 'orders')?.number).toBe(0);
    expect(findResource(configuration, 'template', 'shop', 'order-paid')?.number).toBe(1);
  });

  it('removes resources without a body', () => {
    const configuration = configurationOf([stream('orders', ORDERS)], [stream('orders', null)]);
    expect(findResource(configuration, 'stream', 'shop', 'orders')).toBeUndefined();
  });

  it('ignores the whole record if one change is based on an outdated number; only the number advances', () => {
    const before = configurationOf(
      [stream('orders', ORDERS)],
      [stream('orders', { ...ORDERS, rate: { per_second: 5 } })],
    );
    const [stale] = changesOf(configurationOf([stream('orders', ORDERS)]), [stream('orders', null)]);
    const [fine] = changesOf(before, [template('order-paid', PAID_MAIL)]);
    if (!stale || !fine) throw new Error('two changes');
    const { configuration, voided } = foldConfiguration(before, recordOf([fine, stale]), 2);
    expect(voided).toEqual([stale.ref]);
    expect(configuration).toEqual({ ...before, number: 2 });
  });

  it('ignores a record that creates an existing resource, or changes a missing or recreated one', () => {
    const body = ORDERS;
    const ref = { kind: 'stream', workspace: 'shop', name: 'orders' } as const;
    const there = configurationOf([stream('orders', body)]);
    const again = configurationOf([stream('orders', body)], [stream('orders', null)], [stream('orders', body)]);
    for (const [before, based_on] of [
      [there, null],
      [EMPTY_CONFIGURATION, 0],
      [again, 0],
      [there, 7],
    ] as const) {
      expect(foldConfiguration(before, recordOf([{ ref, based_on, body }]), 9).voided).toEqual([ref]);
    }
    expect(foldConfiguration(again, recordOf([{ ref, based_on: 2, body }]), 9).voided).toEqual([]);
  });

  it('counts the version of a template by its changes', () => {
    const twice = configurationOf([template('a', PAID_MAIL), template('b', PAID_MAIL)], [template('a', PAID_MAIL)]);
    expect(listResources(twice, 'template').map(({ ref, version }) => [ref.name, version])).toEqual([
      ['a', 2],
      ['b', 1],
    ]);
  });

  it('counts the version of a rule by changes to that rule alone, whatever the order of its names', () => {
    const other = { ...rule, when: 'event.status == "late"' };
    const first = [notification('order-paid', withRules({ paid: rule, late: other }))];
    const { recipients, ...rest } = rule;
    const reordered = { recipients, ...rest, stream: 'orders' };
    const second = [notification('order-paid', { ...withRules({ late: other, paid: reordered }), name: 'Renamed' })];
    const third = [notification('order-paid', withRules({ paid: rule, late: { ...other, enabled: false } }))];
    expect(versionsOf(configurationOf(first))).toEqual({ paid: 1, late: 1 });
    expect(versionsOf(configurationOf(first, second))).toEqual({ paid: 1, late: 1 });
    expect(versionsOf(configurationOf(first, second, third))).toEqual({ paid: 1, late: 2 });
  });

  it('counts the versions of rules that have names such as constructor', () => {
    const names = withRules({ paid: rule, constructor: rule });
    const configuration = configurationOf(
      [notification('order-paid', withRules({ paid: rule }))],
      [notification('order-paid', names)],
    );
    expect(versionsOf(configuration)).toEqual({ paid: 1, constructor: 1 });
  });
});

describe('the event streams of a configuration', () => {
  it('feed the rules that name them; a rule without a stream has its own, with the security of its notification', () => {
    const { stream: _, ...alone } = rule;
    const security = { api_keys: ['till'] };
    const configuration = configurationOf([
      stream('orders', { ...ORDERS, key: 'event.order_id' }),
      notification('order-paid', { ...withRules({ paid: rule, alone }), security, rate: { per_second: 3 } }),
    ]);
    const { streams, rules } = streamTable(configuration);
    expect([...streams.keys()].toSorted()).toEqual(['shop/order-paid.alone', 'shop/orders']);
    expect(streams.get('shop/orders')).toMatchObject({ key: 'event.order_id', time: null, workspace: 'shop' });
    expect(streams.get('shop/order-paid.alone')).toMatchObject({ key: null, security, rate: { per_second: 3 } });
    expect(rules.get('shop/orders')?.map(({ name }) => name)).toEqual(['paid']);
    expect(rules.get('shop/order-paid.alone')?.map(({ name }) => name)).toEqual(['alone']);
  });

  it('keep a rule’s path and its id when the notification is renamed', () => {
    const { stream: _, ...own } = rule;
    const given = { ...own, path: 'shop/order-paid.paid', id: 'rul_1' };
    const renamed = configurationOf([notification('order-settled', withRules({ settled: given }))]);
    const placed = streamTable(renamed).rules.get('shop/order-paid.paid')?.[0];
    expect(placed && [placed.name, ruleIdOf(placed)]).toEqual(['settled', 'rul_1']);
  });

  it('record since which configuration each rule is on its stream, through edits, renames and switches', () => {
    const [own] = [{ ...rule, id: 'rul_1' }];
    const published = (rules: NotificationBody['rules'] | null, name = 'order-paid') =>
      [notification(name, rules && withRules(rules))] as const;
    const since = (...records: readonly (readonly Wish[])[]) =>
      [...streamTable(configurationOf(...records)).rules.values()].flat().map(({ since: number }) => number);
    const first = published({ paid: own });
    expect(since(first)).toEqual([0]);
    expect(since(first, published({ paid: { ...own, when: 'true', enabled: false } }))).toEqual([0]);
    expect(since(first, published({ settled: own }))).toEqual([0]);
    expect(since(first, [...published(null), ...published({ paid: own }, 'order-settled')])).toEqual([0]);
    expect(since(first, published(null), first)).toEqual([2]);
    expect(since(first, published({}), first)).toEqual([2]);
    expect(since(first, published({ paid: { ...own, stream: 'returns' } }), first)).toEqual([2]);
    expect(since(published({ paid: rule }), published({ settled: rule }))).toEqual([1]);
  });

  it('give their rules a grace for late events if they have a time path', () => {
    const from = { integration: 'shop-db', tables: { 'public.orders': 'event.id' } };
    const graceOf = (body: object) => {
      const configuration = configurationOf([
        stream('orders', body),
        notification('order-paid', withRules({ paid: rule })),
      ]);
      return streamTable(configuration).rules.get('shop/orders')?.[0]?.grace;
    };
    expect(graceOf(ORDERS)).toBeNull();
    expect(graceOf({ ...ORDERS, time: 'event.at' })).toBe(10_000);
    expect(graceOf({ ...ORDERS, time: 'event.at', grace: '1m' })).toBe(60_000);
    expect(graceOf({ from })).toBeNull();
    expect(graceOf({ from, time: 'event.at' })).toBe(10_000);
  });

  it('do not feed rules of another workspace', () => {
    const configuration = configurationOf(orderShop(), orderShop(ORDER_PAID, 'other'));
    const { rules } = streamTable(configuration);
    expect(rules.get('shop/orders')?.map(({ workspace }) => workspace)).toEqual(['shop']);
    expect(rules.get('other/orders')?.map(({ workspace }) => workspace)).toEqual(['other']);
    expect(findRule(configuration, 'other', { notification: 'order-paid', rule: 'paid' })?.workspace).toBe('other');
    expect(findRule(configuration, 'third', { notification: 'order-paid', rule: 'paid' })).toBeUndefined();
    expect(findRule(configuration, 'shop', { notification: 'order-paid', rule: 'late' })).toBeUndefined();
  });

  it('are found by the stream id in a trigger, also after a rename of the rule', () => {
    const [body] = Object.values(ORDER_PAID.rules);
    if (!body) throw new Error('there is a rule');
    const made = { workspace: 'shop', notification: 'order-paid', ruleId: 'rul_1' };
    const named = (name: string) =>
      configurationOf([notification('order-paid', { ...ORDER_PAID, rules: { [name]: { ...body, id: 'rul_1' } } })]);
    expect(findRuleOf(named('paid'), made)?.name).toBe('paid');
    expect(findRuleOf(named('settled'), made)?.name).toBe('settled');
    expect(findRuleOf(named('paid'), { ...made, workspace: 'other' })).toBeUndefined();
    expect(findRuleOf(named('paid'), { ...made, ruleId: 'shop/order-paid.paid' })).toBeUndefined();
  });

  it('have exactly one display name each, and no other text names a stream', () => {
    expect(readRuleTitle('order-paid.paid')).toEqual({ notification: 'order-paid', rule: 'paid' });
    for (const odd of ['order-paid', 'order-paid.', '.paid', 'a.b.c', '']) expect(readRuleTitle(odd)).toBeUndefined();
  });

  it('show whether a rule is disabled by itself or by its notification', () => {
    const enabledOf = (body: NotificationBody) =>
      findRule(configurationOf([notification('order-paid', body)]), 'shop', {
        notification: 'order-paid',
        rule: 'paid',
      })?.enabled;
    expect(enabledOf(ORDER_PAID)).toBe(true);
    expect(enabledOf({ ...ORDER_PAID, enabled: false })).toBe(false);
    expect(enabledOf(withRules({ paid: { ...rule, enabled: false } }))).toBe(false);
    expect(enabledOf({ ...withRules({ paid: { ...rule, enabled: true } }), enabled: false })).toBe(false);
  });
});

/** Records of any authors: some based on what is there, some on something older, some on nothing. */
const anyWish: fc.Arbitrary<Wish> = fc.oneof(
  fc.tuple(fc.constantFrom('a', 'b'), fc.boolean()).map(([name, there]) => template(name, there ? PAID_MAIL : null)),
  fc
    .tuple(fc.constantFrom('a', 'b'), fc.boolean())
    .map(([name, on]) => notification(name, { ...ORDER_PAID, enabled: on })),
);
const anyRecord: fc.Arbitrary<ConfigurationRecord> = fc
  .array(fc.tuple(anyWish, fc.option(fc.nat(6))), { minLength: 1, maxLength: 3 })
  .map((list) => recordOf(list.map(([wish, based_on]) => ({ ...wish, based_on }))));

const fold = (records: readonly ConfigurationRecord[]): readonly Configuration[] => {
  let configuration = EMPTY_CONFIGURATION;
  return records.map((record, number) => {
    configuration = foldConfiguration(configuration, record, number).configuration;
    return configuration;
  });
};

describe('configurations made from random records', () => {
  it('are the same for every reader, and later records change nothing about earlier numbers', () => {
    fc.assert(
      fc.property(fc.array(anyRecord, { maxLength: 12 }), fc.nat(12), (records, cut) => {
        const all = fold(records);
        expect(fold(structuredClone(records))).toEqual(all);
        expect(fold(records.slice(0, cut))).toEqual(all.slice(0, cut));
        expect(all.map(({ number }) => number)).toEqual(records.map((_, number) => number));
      }),
    );
  });

  it('give a resource the number of the last record that changed it, which is the number for If-Match', () => {
    fc.assert(
      fc.property(fc.array(anyRecord, { maxLength: 12 }), (records) => {
        const all = fold(records);
        for (const [index, after] of all.entries()) {
          const before = all[index - 1] ?? EMPTY_CONFIGURATION;
          for (const [key, resource] of after.resources) {
            expect(resource.number === index || before.resources.get(key) === resource).toBe(true);
          }
        }
      }),
    );
  });

  it('compare content regardless of the order of names', () => {
    expect(canonical({ b: [{ d: 1, c: 2 }], a: 'x' })).toBe(canonical({ a: 'x', b: [{ c: 2, d: 1 }] }));
    expect(canonical([1, 2])).not.toBe(canonical([2, 1]));
  });
});
