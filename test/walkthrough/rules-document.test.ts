import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { createExpressionLanguage } from '@carillon/adapter-cel';
import { createTemplateRenderer } from '@carillon/adapter-handlebars';
import { readConfigurationFolder } from '@carillon/configuration';
import { readTriedChange, visibleChange } from '@carillon/domain/changes';
import { EMPTY_CONFIGURATION, type NotificationBody } from '@carillon/domain/configuration';
import { readEvent } from '@carillon/domain/events';
import { evaluateRule, StepBudget } from '@carillon/domain/rules';
import { stringifyJson, type JsonObject } from '@carillon/kernel';
import { givenEvent, givenRule, MORNING } from '@carillon/testing/given';
import { afterAll, describe, expect, it } from 'vitest';

/*
 * docs/rules.md, executed. A block marked `cel` is an event and expressions with what they give; a block of YAML that
 * begins with `when` is a rule, the JSON below it an event, and the text below that is who would be told.
 */

const page = readFileSync(join(import.meta.dirname, '../../docs/rules.md'), 'utf8').replaceAll(
  /^ {3}(?=\S| {2})/gm,
  '',
);
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

describe('every expression on the page gives what stands beside it', () => {
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
    ['workspaces/shop/streams/orders.yaml', 'security: { api_keys: [backend] }\n'],
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

describe('every rule on the page finds the recipients that stand below it', () => {
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

describe('what the page says of the language', () => {
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

  it('treats what comes later as refused', () => {
    for (const later of ['unless: { when: event.x }', 'wait: { for: 2h }', 'rearm: once', 'fire: becomes_true']) {
      const files = new Map([
        [
          'workspaces/shop/notifications/n.yaml',
          `channels:\n  email: { template: mail }\nrules:\n  r:\n    when: event.a\n    ${later}\n    recipients: { from: event, to: { email: event.e }, unique_id: event_id }\n`,
        ],
      ]);
      const { faults } = readConfigurationFolder(files, { language, templates, current: EMPTY_CONFIGURATION });
      expect(
        faults.some((fault) => fault.message.includes('later')),
        later,
      ).toBe(true);
    }
  });
});
