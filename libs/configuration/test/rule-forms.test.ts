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

describe('totals', () => {
  const failed = 'totals: { failed: { count: event.result == "failed", within: 10m } }';
  const often = 'totals.failed >= 5';

  it.each([
    [[failed], often],
    [['totals: { spent: { sum: event.amount, where: event.ok, within: calendar month } }'], 'totals.spent > 1000'],
    [['totals: { places: { distinct: event.country, within: 92d } }'], 'totals["places"] > 2'],
    [[failed, 'after: 1h', 'unless: totals.failed > 2'], 'event.type == "placed"'],
    [['totals: { all: { count: true, within: calendar day } }'], 'totals.all >= 10000'],
    [['totals: { spent: { sum: event.amount, within: 1m } }'], 'totals.spent >= 501'],
    [[failed], 'totals.failed >= 500'],
  ])('read %j with %s', (lines, when) => {
    expect(placesOf(lines, {}, when)).toEqual([]);
  });

  it.each([
    [[failed], 'event.paid', '6:15 rules.paid.totals.failed', 'nothing reads the total failed'],
    [[], often, '6:11 rules.paid.when', 'the rule has no total failed'],
    [[failed], 'totals.faild >= 5 || totals.failed > 1', '7:11 rules.paid.when', 'the rule has no total faild'],
    [[failed], 'size(totals) > 1 || totals.failed > 1', '7:11 rules.paid.when', 'totals is not read as totals.<name>'],
    [[failed], 'totals[event.x] > 1 || totals.failed > 1', '7:11 rules.paid.when', 'totals is not read as'],
    [[failed], 'totals.failed >= 501', '7:11 rules.paid.when', 'the total failed never exceeds 500'],
    [[failed], '501 > totals.failed', '7:11 rules.paid.when', 'the total failed never exceeds 500'],
    [[failed], 'event.a == 1 && !(500 >= totals.failed)', '7:11 rules.paid.when', 'the total failed never exceeds 500'],
    [[failed], '(event.a ?totals.failed == 501 :false)', '7:11 rules.paid.when', 'the total failed never exceeds 500'],
    [['totals: { failed: { count: "true", within: 0s } }'], often, '6:48 rules.paid.totals.failed.within', ''],
    [['totals: { failed: { count: "true", within: 93d } }'], often, '6:48 rules.paid.totals.failed.within', ''],
    [
      ['totals: { failed: { count: "true", within: calendar year } }'],
      often,
      '6:48 rules.paid.totals.failed.within',
      '',
    ],
    [
      ['totals: { failed: { within: 1h } }'],
      often,
      '6:15 rules.paid.totals.failed',
      'a total can have only one of count, sum and distinct',
    ],
    [['totals: { failed: { count: "true", sum: event.a, within: 1h } }'], often, '6:15 rules.paid.totals.failed', ''],
    [
      ['totals: { failed: { count: "true", where: "true", within: 1h } }'],
      often,
      '6:40 rules.paid.totals.failed.where',
      '',
    ],
    [
      ['totals: { failed: { count: 5, within: 1h } }'],
      often,
      '6:32 rules.paid.totals.failed.count',
      'the condition of a total',
    ],
    [
      ['totals: { failed: { sum: string(event.a), within: 1h } }'],
      often,
      '6:30 rules.paid.totals.failed.sum',
      'sum must be',
    ],
    [
      ['totals: { failed: { count: totals.failed > 1, within: 1h } }'],
      often,
      '6:32 rules.paid.totals.failed.count',
      'unknown name',
    ],
    [['totals: { "a b": { count: "true", within: 1h } }'], often, '6:15 rules.paid.totals.a b', ''],
  ])('refuse %j with %s', (lines, when, place, message) => {
    const faults = read(lines, {}, when).faults.map((fault) => `${fault.line}:${fault.column} ${fault.path}`);
    expect(faults).toContain(place);
    expect(messageOf(lines, {}, when)).toContain(message);
  });

  it('are at most 16', () => {
    const names = Array.from({ length: 17 }, (_, index) => `t${index}`);
    const line = `totals: { ${names.map((name) => `${name}: { count: "true", within: 1h }`).join(', ')} }`;
    const { faults } = read([line], {}, names.map((name) => `totals.${name} > 1`).join(' && '));
    expect(faults.map(({ path, expected }) => `${path}: ${expected}`)).toEqual([
      'rules.paid.totals: at most 16 totals',
    ]);
  });

  it('are available to a template that names them', () => {
    const used = { 'workspaces/shop/templates/order-paid/email.yaml': 'subject: "{{totals.failed}} times"\n' };
    expect(placesOf([failed], used, 'event.paid')).toEqual([]);
  });

  it('cause a warning without a cooldown if when reads them', () => {
    const warned = (...lines: readonly string[]) =>
      read(lines, {}, often).warnings.filter(({ message }) => message.includes('while the total lasts')).length;
    expect(warned(failed)).toBe(1);
    expect(warned(failed, 'cooldown: until_false')).toBe(0);
  });

  it('need a key', () => {
    const keyless = { 'workspaces/shop/streams/orders.yaml': 'security: { api_keys: [backend] }\n' };
    expect(messageOf([failed], keyless, often)).toContain('totals looks at earlier events of an entity');
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

  it('may have its own time path', () => {
    for (const lines of [['after: 1h'], ['after_last: 1h'], ['at: event.a'], ['cooldown: 1h'], []])
      expect(placesOf(lines, timed, 'changed(event.status)')).toEqual([]);
  });

  it.each([
    ['time: event.at\ngrace: 1m\n', null],
    ['grace: 1m\n', 'grace'],
    ['time: event.at\ngrace: 2h\n', 'grace'],
    ['time: event.at\ngrace: 0s\n', 'grace'],
  ])('has a grace of 1s to 1h beside its time path: %j', (text, wrong) => {
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

  it('has at most 64 rules that count, wait or cool down', () => {
    expect(faultsOfMany(64, 'cooldown: 1h')).toEqual([]);
    expect(faultsOfMany(66, 'after: 1h')).toEqual([
      'second rules.r64: 64 other rules on the event stream orders count, wait or cool down',
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
      'rules.paid.recipients.where: previous cannot be used after the lookup at a partner',
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

  it('is a name only in recipients of a rule that waits', () => {
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
