import { readCases } from '@carillon/configuration';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { isFailed, resultsText } from '../../../apps/cli/src/cases/case-text.ts';
import { runFolder } from '../../../apps/cli/src/cases/run-folder.ts';
import { caseYaml } from '../../../apps/portal/src/screens/rule/timeline/case-yaml.ts';
import type { Step } from '../../../apps/portal/src/screens/rule/timeline/steps.ts';

const RULE = 'order-unpaid.not-paid';
const FOLDER = {
  'carillon.yaml': 'backend: embedded\n',
  'workspaces/shop/workspace.yaml': 'name: Shop\n',
  'workspaces/shop/streams/orders.yaml': 'key: event.order_id\nsecurity: { api_keys: [backend] }\n',
  'workspaces/shop/templates/mail/email.yaml': 'subject: "Order {{order_id}}: \\"not paid\\""\nfrom: a@example.com\n',
  'workspaces/shop/templates/mail/email.txt': 'Hello\n',
  'workspaces/shop/notifications/order-unpaid.yaml': `channels:
  email: { template: mail }
rules:
  not-paid:
    stream: orders
    when: event.type == "placed"
    after: 1h
    unless: event.type == "paid"
    recipients: { from: event, to: { email: event.email }, unique_id: event.order_id }
`,
};
const TEN = Date.parse('2026-11-30T10:00:00Z');
const event = (minutes: number, type: string, id: string) => ({
  at: TEN + minutes * 60_000,
  text: JSON.stringify({ type, order_id: id, email: 'ada@example.com', note: 'it\'s: a "note" # {1}' }),
});

async function run(
  text: string,
): Promise<{ readonly printed: string; readonly steps: readonly Step[]; readonly failed: boolean }> {
  const { results, faults } = await runFolder(
    new Map(Object.entries({ ...FOLDER, 'workspaces/shop/tests/c.yaml': text })),
  );
  expect(faults).toEqual([]);
  return {
    printed: resultsText(results, '0 s'),
    steps: results[0]?.timeline ?? [],
    failed: results.some(isFailed),
  };
}

/** A step with one message, in the fields that a case names. */
const stepWith = (
  at: string,
  { address, subject, title }: Readonly<Record<'address' | 'subject' | 'title', string>>,
): Step => {
  const message = { ok: true, error: null, channel: 'email', subject, push: { title } };
  return { at, asks: null, recipients: [{ to: { email: address }, unique_id: 'A-1', messages: [message] }] } as never;
};

describe('a test that the portal saves as a case', () => {
  it.each([
    ['an order that is not paid', [event(0, 'placed', 'A-1'), event(20, 'viewed', 'A-1')], null, 1],
    ['an order that is paid', [event(0, 'placed', 'A-1'), event(60, 'paid', 'A-1')], null, 0],
    [
      'two orders, and less than the wait',
      [event(0, 'placed', 'A-1'), event(30, 'placed', 'A-2')],
      TEN + 65 * 60_000,
      1,
    ],
    ['two orders over a day', [event(0, 'placed', 'A-1'), event(1500, 'placed', 'A-2')], TEN + 1600 * 60_000, 2],
  ] as const)('is run by carillon test, and passes: %s', async (name, events, until, messages) => {
    const given = { rule: RULE, name, events, hasChanges: false, answer: '' };
    // What the test bench shows: the steps of these events up to the end.
    const { steps } = await run(caseYaml({ ...given, until: until ?? TEN + 90_000_000, steps: [] }));
    const text = caseYaml({ ...given, until, steps });
    expect(text.match(/message:/g) ?? []).toHaveLength(messages);
    const { printed, failed } = await run(text);
    expect(printed).toContain('1 case passed');
    expect(failed).toBe(false);
  });

  it('fails once the rule waits longer', async () => {
    const given = { rule: RULE, name: 'late', events: [event(0, 'placed', 'A-1')], hasChanges: false, answer: '' };
    const { steps } = await run(caseYaml({ ...given, until: TEN + 90_000_000, steps: [] }));
    const text = caseYaml({ ...given, until: null, steps });
    const { failed } = await run(text.replace('+1h', '+59m'));
    expect(failed).toBe(true);
  });

  it('reads back unchanged, for any text', () => {
    const text = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.stringMatching(/^[,:#{}[\]"'?&*!|>%@`~ \n\\a1-]*$/),
      fc.constantFrom('yes', 'null', '1e3', 'Your order, and what is next', 'a: b', '- a', '<<', '__proto__'),
    );
    // The reader knows no key of this name.
    const key = text.filter((name) => name !== '__proto__');
    const body = fc.dictionary(key, fc.oneof(text, fc.jsonValue()), { noNullPrototype: true });
    const all = fc.record({ name: key, subject: text, title: text, address: text, body });
    const law = fc.property(all, ({ name, subject, title, address, body: sent }) => {
      const at = new Date(TEN).toISOString();
      const given = { rule: RULE, name, until: null, hasChanges: false, answer: '' };
      const steps = [stepWith(at, { address, subject, title })];
      const written = caseYaml({ ...given, events: [{ at: TEN, text: JSON.stringify(sent) }], steps });
      const { files, faults } = readCases(new Map([['workspaces/shop/tests/c.yaml', written]]));
      expect(faults).toEqual([]);
      const read = files[0]?.cases.map((each) => [
        each.name,
        each.steps.map((step) => ({ ...step, place: undefined })),
      ]);
      const message = { email: address, subject, title };
      const expected = [
        { at, event: sent },
        { at, message },
      ];
      expect(JSON.stringify(read)).toBe(JSON.stringify([[name, expected]]));
    });
    const comma = { name: 'a, b', subject: 'Paid, thanks', title: 'A, b', address: 'a@b', body: { note: 'a, b' } };
    fc.assert(law, { examples: [[comma]] });
  });
});
