import { readResourceBodies, type WrittenKind } from '@carillon/configuration';
import { type Configuration, EMPTY_CONFIGURATION, resourceKey } from '@carillon/domain/configuration';
import { describe, expect, it } from 'vitest';
import { reading } from './support/small-language.ts';

const ref = (kind: WrittenKind, name: string) => ({ kind, workspace: 'shop', name });
const RECIPIENTS = { from: 'event', to: { email: 'event.email' }, unique_id: 'event_id' };
const KEY = { key: { secret: 'CRM_KEY' } };
const ID = 'rul_00000000000000000000000001';

const notification = (rule: object) => ({
  channels: { email: { template: 'mail' } },
  rules: { paid: { ...('cohort' in rule ? {} : { stream: 'orders' }), recipients: RECIPIENTS, ...rule } },
});
const given = (rule: object, name = 'order-paid') => [
  { ref: ref('workspace', ''), body: {} },
  { ref: ref('stream', 'orders'), body: { security: { api_keys: ['backend'] } } },
  { ref: ref('stream', 'refunds'), body: { security: { api_keys: ['backend'] } } },
  { ref: ref('template', 'mail'), body: { email: { subject: 'Paid', text: 'Paid' } } },
  { ref: ref('integration', 'crm'), body: { kind: 'lookup', url: 'https://crm.example.com', authorization: KEY } },
  { ref: ref('integration', 'posthog'), body: { kind: 'generic', authorization: KEY } },
  { ref: ref('notification', name), body: notification(rule) },
];

/** The configuration after the rule was published. */
const published = (rule: object): Configuration => {
  const { resources, faults } = readResourceBodies(given(rule), reading);
  expect(faults).toEqual([]);
  return {
    ...EMPTY_CONFIGURATION,
    resources: new Map(
      resources.map((one) => [resourceKey(one.ref), { ...one, number: 1, version: 1, ruleVersions: {} }]),
    ),
  };
};
const found = (rule: object, current = EMPTY_CONFIGURATION, name = 'order-paid') =>
  readResourceBodies(given(rule, name), { ...reading, current });
const warned = (...asked: Parameters<typeof found>) =>
  found(...asked).warnings.filter(({ code }) => code === 'every_event');

describe('a rule that fires on every event', () => {
  it('causes a warning if it is new', () => {
    expect(warned({ when: 'true' })).toMatchObject([
      { path: 'rules.paid.when', facts: { stream: 'orders' }, message: 'the rule fires on every event of orders' },
    ]);
    expect(warned({ when: ' true\n' })).toHaveLength(1);
    expect(warned({ when: 'event.total > 1' })).toEqual([]);
  });

  it('causes a warning if its condition or its stream changes', () => {
    expect(warned({ when: 'true' }, published({ when: 'event.total > 1' }))).toHaveLength(1);
    expect(warned({ when: 'true', stream: 'refunds' }, published({ when: 'true' }))).toHaveLength(1);
  });

  it('causes no warning if it did so before, also under another name', () => {
    expect(warned({ when: 'true' }, published({ when: 'true' }))).toEqual([]);
    expect(warned({ when: 'true', id: ID }, published({ when: 'true', id: ID }), 'order-settled')).toEqual([]);
  });

  it('causes no warning if a cohort starts it', () => {
    const cohort = { integration: 'posthog', id: '5', on: 'entered' };
    const recipients = { from: 'lookup', integration: 'crm', unique_id: 'event_id' };
    const rule = { when: 'true', cohort, recipients };
    expect(found(rule)).toMatchObject({ faults: [] });
    expect(warned(rule)).toEqual([]);
  });
});

it('a rule without a condition is refused and the fault names the field', () => {
  expect(found({}).faults).toMatchObject([
    { code: 'missing', path: 'rules.paid.when', message: 'when is missing', fix: 'add when: …' },
  ]);
});
