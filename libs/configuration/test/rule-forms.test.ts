import { planChanges, readConfigurationFolder } from '@carillon/configuration';
import { givenExpressions } from '@carillon/testing/given';
import { describe, expect, it } from 'vitest';
import { configurationOf } from './support/faults-of-sources.ts';
import { goodFolder } from './support/folder.ts';
import { reading } from './support/small-language.ts';

const NOTIFICATION = 'workspaces/shop/notifications/order-paid.yaml';
const checked = { ...reading, language: givenExpressions };

/** Reads the good folder with these lines below `stream: orders`, and other files. */
function read(lines: readonly string[], files: Readonly<Record<string, string>> = {}, when = 'event.status == "paid"') {
  const text = (goodFolder[NOTIFICATION] ?? '')
    .replace('event.status == "paid" && event.total > 100', () => when)
    .replace('    stream: orders\n', (line) => line + lines.map((each) => `    ${each}\n`).join(''));
  return readConfigurationFolder(new Map(Object.entries({ ...goodFolder, ...files, [NOTIFICATION]: text })), checked);
}
const placesOf = (...given: Parameters<typeof read>): readonly string[] =>
  read(...given).faults.map(({ line, column, path, fix }) => {
    expect(fix).not.toBe('');
    return `${line}:${column} ${path}`;
  });
const messageOf = (...given: Parameters<typeof read>): string =>
  read(...given)
    .faults.map(({ message }) => message)
    .join('; ');

describe('keys of rules with state', () => {
  it.each([
    [['after: 1h', 'unless: event.status == "paid"']],
    [['after_last: 10m', 'cooldown: until_false']],
    [['at: timestamp(event.starts_at) - duration("24h")', 'if_past: notify', 'unless: event.status != "booked"']],
    [['at: event.starts_at', 'cooldown: 1h']],
    [['cooldown: 30s']],
    [['after: 1h', 'unless: changedTo(event.status, "paid") || previous.total > 5']],
  ])('read %j', (lines) => {
    expect(placesOf(lines)).toEqual([]);
  });

  it.each([
    [['after: 1h', 'after_last: 1h'], '7:5 rules.paid.after_last'],
    [['after_last: 1h', 'at: event.starts_at'], '7:5 rules.paid.at'],
    [['unless: event.status == "paid"'], '6:5 rules.paid.unless'],
    [['after: 1h', 'if_past: notify'], '7:5 rules.paid.if_past'],
    [['after: 0s'], '6:12 rules.paid.after'],
    [['after_last: 367d'], '6:17 rules.paid.after_last'],
    [['cooldown: soon'], '6:15 rules.paid.cooldown'],
    [['cooldown: 0s'], '6:15 rules.paid.cooldown'],
    [['at: event.starts_at', 'if_past: maybe'], '7:14 rules.paid.if_past'],
    [['at: \'"2026-03-01T09:00:00"\''], '6:9 rules.paid.at'],
    [['at: 5'], '6:9 rules.paid.at'],
    [['after: 1h', 'unless: size(event.items)'], '7:13 rules.paid.unless'],
    [['after: 1h', 'unless: changed(1)'], '7:21 rules.paid.unless'],
    [['fire: once'], '6:5 rules.paid.fire'],
    [['aggregates: { n: { count: "true" } }'], '6:5 rules.paid.aggregates'],
    [['totals: { n: { count: "true" } }'], '6:5 rules.paid.totals'],
  ])('refuse %j at %s', (lines, place) => {
    expect(placesOf(lines)).toEqual([place]);
  });

  it('name the key that took the place of an earlier one', () => {
    expect(read(['rearm: 1h']).faults[0]?.fix).toBe('write cooldown');
  });

  it('report all faults at once', () => {
    expect(placesOf(['after: 1h', 'at: event.a', 'if_past: never', 'wait: 1h', 'cooldown: soon'])).toHaveLength(3);
  });
});

describe('the stream of a rule with state', () => {
  const keyless = { 'workspaces/shop/streams/orders.yaml': 'security: { api_keys: [backend] }\n' };
  const timed = {
    'workspaces/shop/streams/orders.yaml': 'key: event.order_id\ntime: event.at\nsecurity: { api_keys: [backend] }\n',
  };

  it.each([[['after: 1h']], [['at: event.a']], [['cooldown: 1h']]])('needs a key for %j', (lines) => {
    expect(messageOf(lines, keyless)).toBe(
      `${lines[0]?.split(':')[0]} looks at earlier events of an entity, and the event stream orders has no key`,
    );
  });

  it('needs a key for previous and changed', () => {
    expect(messageOf([], keyless, 'changed(event.status)')).toContain('the event stream orders has no key');
    expect(placesOf([], {}, 'changed(event.status)')).toEqual([]);
  });

  it('may have a time of its own', () => {
    for (const lines of [['after: 1h'], ['after_last: 1h'], ['at: event.a'], ['cooldown: 1h'], []])
      expect(placesOf(lines, timed, 'changed(event.status)')).toEqual([]);
  });

  it.each([
    ['time: event.at\ngrace: 1m\n', null],
    ['grace: 1m\n', 'grace'],
    ['time: event.at\ngrace: 2h\n', 'grace'],
    ['time: event.at\ngrace: 0s\n', 'grace'],
  ])('has a grace of 1s to 1h beside its time: %j', (text, wrong) => {
    const file = 'workspaces/shop/streams/orders.yaml';
    const body = `key: event.order_id\nsecurity: { api_keys: [backend] }\n${text}`;
    const { faults } = readConfigurationFolder(new Map(Object.entries({ ...goodFolder, [file]: body })), checked);
    expect(faults.map(({ path }) => path)).toEqual(wrong === null ? [] : [wrong]);
  });
});

describe('a stream', () => {
  /** Faults of publishing this many rules on one stream, of which the first half are there already. */
  const faultsOfMany = (count: number, line: string) => {
    const rules = (from: number, to: number): string =>
      Array.from({ length: to - from }, (_, index) =>
        [
          `  r${from + index}:`,
          '    stream: orders',
          '    when: event.status == "paid"',
          ...(line === '' ? [] : [`    ${line}`]),
          '    recipients: { from: event, to: { email: event.email }, unique_id: event_id }',
        ].join('\n'),
      ).join('\n');
    const head = 'channels: { email: { template: order-paid } }\nrules:\n';
    const folderOf = (files: Readonly<Record<string, string>>) =>
      readConfigurationFolder(new Map(Object.entries({ ...goodFolder, ...files })), checked).resources;
    const first = { 'workspaces/shop/notifications/first.yaml': head + rules(0, count / 2) };
    const second = { 'workspaces/shop/notifications/second.yaml': head + rules(count / 2, count) };
    const options = { ...checked, prune: false, newId: (kind: string) => `${kind}-id` };
    return planChanges(configurationOf(folderOf(first)), folderOf(second), options).faults.map(
      ({ ref, path, message }) => `${ref.name} ${path.join('.')}: ${message}`,
    );
  };

  it('has at most 64 rules that wait or cool down', () => {
    expect(faultsOfMany(64, 'cooldown: 1h')).toEqual([]);
    expect(faultsOfMany(66, 'after: 1h')).toEqual([
      'second rules.r64: 64 other rules on the event stream orders wait or cool down',
    ]);
    expect(faultsOfMany(100, '')).toEqual([]);
  });
});

describe('previous after the answer of a partner', () => {
  it('is refused on a stream of events', () => {
    const crm = 'kind: lookup\nurl: https://crm.example\nauthorization: { key: { secret: CRM } }\n';
    const asking = (recipients: string) =>
      readConfigurationFolder(
        new Map(
          Object.entries({
            ...goodFolder,
            'workspaces/shop/integrations/crm.yaml': crm,
            [NOTIFICATION]: (goodFolder[NOTIFICATION] ?? '').replace(
              / {4}recipients:[\s\S]*$/,
              `    recipients: ${recipients}\n`,
            ),
          }),
        ),
        checked,
      ).faults.map(({ path, message }) => `${path}: ${message}`);
    const lookup = 'from: lookup, integration: crm';
    expect(asking(`{ ${lookup}, user_ids: previous.id, unique_id: event_id }`)).toEqual([]);
    expect(asking(`{ ${lookup}, user_ids: event.id, unique_id: event_id, where: 'previous.on == true' }`)).toEqual([
      'rules.paid.recipients.where: previous is not known after the answer of a partner',
    ]);
  });
});

describe('deadline', () => {
  const recipient = (lines: readonly string[]) => {
    const text = (goodFolder[NOTIFICATION] ?? '')
      .replace('email: event.customer.email', 'email: string(deadline)')
      .replace('    stream: orders\n', (line) => line + lines.map((each) => `    ${each}\n`).join(''));
    return readConfigurationFolder(new Map(Object.entries({ ...goodFolder, [NOTIFICATION]: text })), checked).faults;
  };

  it('is a name of the recipients of a rule that waits, and of no other', () => {
    expect(recipient(['after: 1h'])).toEqual([]);
    expect(recipient([]).map(({ path }) => path)).toEqual(['rules.paid.recipients.to.email']);
  });
});

describe('forget_after of a stream', () => {
  const ORDERS = 'workspaces/shop/streams/orders.yaml';
  const remembering = (forgetAfter: string) => ({
    [ORDERS]: `key: event.order_id\nforget_after: ${forgetAfter}\nsecurity: { api_keys: [backend] }\n`,
  });

  it('takes days, from one to ten years', () => {
    expect(messageOf(['cooldown: 30d'], remembering('30d'))).toBe('');
    expect(messageOf(['after: 60d', 'cooldown: until_false'], remembering('1d'))).toBe('');
    for (const outside of ['23h', '3651d', 'forever']) {
      expect(placesOf(['after: 1h'], remembering(outside))).toEqual(['2:15 forget_after']);
    }
  });

  it('is refused at a rule whose cooldown is longer, with rule and bound', () => {
    const found = read(['cooldown: 31d'], remembering('30d')).faults;
    expect(found.map(({ path, message, fix }) => [path, message, fix])).toEqual([
      [
        'rules.paid.cooldown',
        'the event stream orders forgets its entities after 30d, which is shorter than cooldown of the rule order-paid.paid (31d)',
        'set forget_after of orders to 31d or longer, or shorten cooldown',
      ],
    ]);
    expect(placesOf(['cooldown: 366d'])).toEqual([]);
  });

  it('is refused at a stream if its rules stay as they are', () => {
    const options = {
      prune: false,
      newId: () => 'x_1',
      language: givenExpressions,
      templates: reading.templates,
    };
    const current = configurationOf(read(['cooldown: 31d']).resources);
    const streamOf = (forgetAfter: string) =>
      read([], remembering(forgetAfter)).resources.filter(({ ref }) => ref.kind === 'stream');
    const faultsOf = (forgetAfter: string) => planChanges(current, streamOf(forgetAfter), options).faults;
    expect(faultsOf('30d').map(({ ref, path, code }) => [ref.kind, path, code])).toEqual([
      ['stream', ['forget_after'], 'forget_after_too_short'],
    ]);
    expect(faultsOf('31d')).toEqual([]);
  });

  it('is refused on a stream without a key', () => {
    const keyless = { [ORDERS]: 'forget_after: 30d\nsecurity: { api_keys: [backend] }\n' };
    expect(placesOf([], keyless)).toEqual(['1:1 forget_after']);
  });
});
