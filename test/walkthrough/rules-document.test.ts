import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createExpressionLanguage } from '@carillon/adapter-cel';
import { createTemplateRenderer } from '@carillon/adapter-handlebars';
import { readConfigurationFolder } from '@carillon/configuration';
import { readTriedChange, visibleChange } from '@carillon/domain/changes';
import { EMPTY_CONFIGURATION, type NotificationBody } from '@carillon/domain/configuration';
import { readEvent } from '@carillon/domain/events';
import { evaluateRule, StepBudget } from '@carillon/domain/rules';
import { rehearse } from '@carillon/insight';
import { formatInstant, runToCompletion, stringifyJson, type JsonObject } from '@carillon/kernel';
import {
  configurationOf,
  givenEvent,
  givenIds,
  givenRule,
  givenRuleBook,
  MORNING,
  notification,
  ORDERS,
  stream,
} from '@carillon/testing/given';
import { afterAll, describe, expect, it } from 'vitest';

/*
 * The pages about rules, executed. A block marked `cel` is an event and expressions with what they give; a block of YAML that
 * begins with `when` is a rule, the JSON below it an event, and the text below that is who would be told. A block marked
 * `timeline` has events and deadlines of the rule above it, with what comes of each.
 */

const PAGES = ['rules', 'rule-recipients', 'unique-id', 'compare-events', 'count-events', 'waiting', 'expressions'];
const page = PAGES.map((name) => readFileSync(join(import.meta.dirname, `../../docs/${name}.md`), 'utf8')).join('\n');
const language = createExpressionLanguage();
const templates = createTemplateRenderer();
afterAll(() => templates.close());

/** The event is read as the intake reads it: from its bytes, so that long numbers stay exact. */
const evaluate = (source: string, text: string): string => {
  const event = readEvent(new TextEncoder().encode(text));
  if (!event.ok) return `refused: ${event.error.detail}`;
  const compiled = language.compile(source, 'recipient');
  if (!compiled.ok) return `refused: ${compiled.error[0]?.message}`;
  const result = compiled.value.evaluate(
    { event: event.value.body, event_id: 'evt_1', time: MORNING },
    new StepBudget(),
  );
  return result.ok ? stringifyJson(result.value) : `error: ${result.error}`;
};

/** A change is read as `rule test --event` reads it. */
const evaluateChange = (source: string, text: string): string => {
  const from = { integration: 'shop-db', table: 'public.orders', tx: 1, position: '0/1:1', at: '2026-11-28T06:30:00Z' };
  const change = readTriedChange(new TextEncoder().encode(text), from);
  if (!change.ok) return `refused: ${change.error.detail}`;
  const compiled = language.compile(source, 'recipient');
  if (!compiled.ok) return `refused: ${compiled.error[0]?.message}`;
  const bindings = { event: change.value.event, event_id: 'evt_1', time: MORNING, ...visibleChange(change.value) };
  const result = compiled.value.evaluate(bindings, new StepBudget());
  return result.ok ? stringifyJson(result.value) : `error: ${result.error}`;
};

describe('every expression on the pages gives the result beside it', () => {
  const blocks = [...page.matchAll(/^```cel\n(event|change) = (.+)\n\n([^`]*?)^```$/gm)];
  it('finds the blocks', () => expect(blocks.length).toBeGreaterThanOrEqual(9));
  for (const [, kind = '', text = '', body = ''] of blocks) {
    for (const line of body.trim().split('\n')) {
      const [source = '', expected = ''] = line.split('→').map((part) => part.trim());
      it(`${source} gives ${expected} for ${kind} ${text.slice(0, 20)}`, () => {
        const found = kind === 'event' ? evaluate(source, text) : evaluateChange(source, text);
        if (expected.startsWith('error: ')) expect(found).toContain(expected);
        else expect(JSON.parse(found), found).toEqual(JSON.parse(expected));
      });
    }
  }
});

/** Reads a notification file as `apply` would; answers its body. Refuses what `apply` would refuse. */
function applied(rule: string): NotificationBody {
  const indented = rule.replaceAll(/^/gm, '    ');
  const files = new Map([
    ['carillon.yaml', 'backend: embedded\n'],
    ['workspaces/shop/workspace.yaml', 'name: Shop\n'],
    ['workspaces/shop/streams/orders.yaml', 'key: event.order_id\nsecurity: { api_keys: [backend] }\n'],
    ['workspaces/shop/templates/mail/email.yaml', 'subject: Hello\nfrom: a@example.com\n'],
    ['workspaces/shop/templates/mail/email.txt', 'Hello\n'],
    [
      'workspaces/shop/notifications/n.yaml',
      `channels:\n  email: { template: mail }\nrules:\n  r:\n    stream: orders\n${indented}`,
    ],
  ]);
  const reading = readConfigurationFolder(files, { language, templates, current: EMPTY_CONFIGURATION });
  const faults = reading.faults.filter((fault) => !fault.message.includes('API key'));
  expect(faults).toEqual([]);
  const found = reading.resources.find((one) => one.ref.kind === 'notification');
  if (!found) throw new Error('the notification was not read');
  return found.body as NotificationBody;
}

describe('every rule on the pages finds the recipients listed below it', () => {
  const blocks = [...page.matchAll(/^```yaml\n(when:[^`]*?)^```\n```json\n([^`]*?)^```\n```\n([^`]*?)^```$/gm)];
  it('finds the blocks', () => expect(blocks).toHaveLength(5));
  for (const [, yaml = '', event = '', expected = ''] of blocks) {
    it(expected.trim().split('\n')[0] ?? '', () => {
      const rule = applied(yaml).rules['r'];
      if (!rule) throw new Error('the rule was not read');
      const { recipients, ...rest } = rule;
      const outcome = evaluateRule(
        givenRule(recipients, rest),
        givenEvent(JSON.parse(event) as JsonObject),
        () => 'trg_1',
      );
      if (outcome.kind !== 'fired') throw new Error(`it did not fire: ${outcome.kind}`);
      const lines = [
        ...outcome.recipients.map(
          (one) =>
            `recipient ${one.to.email ?? one.to.phone}  unique_id ${one.uniqueId}  variables ${stringifyJson(one.variables)}`,
        ),
        ...outcome.dropped.map((one) => `dropped ${one.reason}`),
      ];
      expect(lines.join('\n')).toBe(expected.trim());
    });
  }
});

describe('every timeline on the pages', () => {
  const DAY = '2026-01-31T';
  const blocks = [...page.matchAll(/^```yaml\n(when:[^`]*?)^```\n```timeline\n(.*?)^```$/gms)];
  const short = (text: string): string => text.replaceAll(/2026-01-31T(\d\d:\d\d):00\.000Z/g, '$1');
  it('is found', () => expect(blocks).toHaveLength(10));

  it.each(blocks.map(([, yaml = '', lines = '']) => [yaml.split('\n').slice(0, 2).join(' '), yaml, lines]))(
    'has the result that the page states: %s',
    (_title, yaml, lines) => {
      const given = lines.trim().split('\n');
      const entry = keyed(applied(yaml));
      const events = given.flatMap((line, index) => {
        const [, clock = '', body] = /^(\d\d:\d\d) {2}(?:(\{.*\})|deadline) +→/.exec(line) ?? [];
        if (body === undefined) return [];
        const at = Date.parse(`${DAY}${clock}:00Z`);
        const event = givenEvent(JSON.parse(body) as JsonObject, `evt_${String(index).padStart(20, '0')}`);
        return [{ ...event, key: event.body['order_id'] as string, appendedAt: at, time: at }];
      });
      const until = events.at(-1)?.appendedAt ?? 0;
      const last = Date.parse(`${DAY}${given.at(-1)?.slice(0, 5)}:00Z`);
      const steps = runToCompletion(rehearse({ entry, events, until: Math.max(until, last) }, givenIds.derive));
      const found = steps.map(({ kind, at, event, outcome, decisions }) => {
        const what = kind === 'deadline' ? 'deadline' : stringifyJson(event.body);
        const notified =
          outcome.kind === 'fired' ? outcome.recipients.map(({ to }) => `notifies ${to.email}`) : decisions;
        return `${formatInstant(at).slice(11, 16)} ${what} → ${short(notified.join(', ')) || 'nothing'}`;
      });
      expect(found).toEqual(given.map(asWritten));
    },
  );

  /** The rule on a stream with a key. */
  function keyed(body: NotificationBody) {
    const orders = stream('orders', { ...ORDERS, key: 'event.order_id' });
    const rules = givenRuleBook().rulesOf(configurationOf([orders, notification('n', body)]), 'shop/orders');
    if (!rules[0]?.ok) throw new Error(rules[0]?.error ?? 'the rule is not in its stream');
    return rules[0];
  }

  /** The line without its blanks, and its JSON in one form. */
  function asWritten(line: string): string {
    const [left = '', right = ''] = line.split('→').map((part) => part.trim());
    const body = left.slice(5).trim();
    const what = body === 'deadline' ? body : stringifyJson(JSON.parse(body) as JsonObject);
    return `${left.slice(0, 5)} ${what} → ${right}`;
  }
});

const REPLACED = [
  ['aggregates', '{ n: { count: "true" } }', 'totals'],
  ['sequence', '[a, b]', 'totals'],
  ['wait', '{ for: 2h }', 'after'],
  ['still', 'event.x', 'after'],
  ['unless', '{ when: event.x }', 'after'],
  ['count_from', 'first', 'after'],
  ['fire', 'becomes_true', 'cooldown'],
  ['rearm', 'once', 'cooldown'],
  ['late', 'skip', 'if_past'],
  ['max_staleness', '1h', 'expires'],
] as const;

describe('the language of the pages', () => {
  const rows = [...page.matchAll(/^\| `(?:name\(value\)|value\.name\(…\))` \| (.+) \|$/gm)].map(([, names = '']) =>
    names.split(' '),
  );

  it('lists the functions, all of them and no others', () => {
    // The message about an unknown function lists them.
    const listed = (source: string): string[] => {
      const compiled = language.compile(source, 'when');
      return compiled.ok ? [] : (compiled.error[0]?.fix.replace('functions are ', '').split(', ') ?? []);
    };
    expect(rows[0]).toEqual(listed('xxxxxxxxxxxx(event)'));
    expect(rows[1]).toEqual(listed('event.xxxxxxxxxxxx()'));
  });

  it.each([
    ['length', `"${'x'.repeat(4096)}" == ""`, /at most 4096/],
    ['nesting', `${'('.repeat(70)}true${')'.repeat(70)}`, /too complex/],
    ['a list written out', `1 in [${'1,'.repeat(501)}1]`, /too complex/],
    ['loops', 'event.a.all(x, event.b.all(y, event.c.all(z, true)))', /more than 2 deep/],
  ])('refuses what is over the limit of %s', (_limit, source, message) => {
    const compiled = language.compile(source, 'when');
    expect(compiled.ok).toBe(false);
    if (!compiled.ok) expect(compiled.error[0]?.message).toMatch(message);
  });

  it('refuses a key of an earlier design with the key that replaces it', () => {
    for (const [key, body, successor] of REPLACED) {
      const text = `channels:\n  email: { template: mail }\nrules:\n  r:\n    when: event.a\n    ${key}: ${body}\n    recipients: { from: event, to: { email: event.e }, unique_id: event_id }\n`;
      const files = new Map([['workspaces/shop/notifications/n.yaml', text]]);
      const { faults } = readConfigurationFolder(files, { language, templates, current: EMPTY_CONFIGURATION });
      const fix = faults.find(({ path }) => path === `rules.r.${key}`)?.fix ?? '';
      expect(fix, key).toMatch(new RegExp(`^write ${successor}\\b`));
    }
  });
});
