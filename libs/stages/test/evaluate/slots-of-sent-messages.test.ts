import type { Configuration, RuleBody } from '@carillon/domain/configuration';
import type { Intent } from '@carillon/domain/deliveries';
import type { SourceEvent } from '@carillon/domain/events';
import type { Trigger } from '@carillon/domain/lookups';
import { runToCompletion, type Json } from '@carillon/kernel';
import {
  configurationOf,
  givenEvent,
  givenIds,
  givenLookup,
  givenRuleBook,
  integration,
  notification,
  ORDER_PAID,
  ORDERS,
  PAID_MAIL,
  SENT_BY_ADA,
  stream,
  template,
} from '@carillon/testing/given';
import fc, { type Arbitrary } from 'fast-check';
import { describe, expect, it } from 'vitest';
import { evaluateEventCoroutine, resolveLookup } from '../../src/index.ts';

const book = givenRuleBook();
const { job } = SENT_BY_ADA;

const shop = (recipients: RuleBody['recipients']): Configuration =>
  configurationOf([
    stream('orders', ORDERS),
    template('order-paid', PAID_MAIL),
    integration('crm', { kind: 'lookup', url: 'https://crm.example.com', authorization: { key: { secret: 'K' } } }),
    notification('order-paid', { ...ORDER_PAID, rules: { paid: { stream: 'orders', when: 'true', recipients } } }),
  ]);

/** Evaluates an event live, or for a sending job. */
const evaluate = (event: SourceEvent, configuration: Configuration, runId: string | null) =>
  runToCompletion(evaluateEventCoroutine(event, configuration, book, givenIds.derive, { runId, states: null }));
const slotsOf = (intents: readonly Intent[]) => intents.map(({ slot }) => slot);
const idsOf = (intents: readonly Intent[]) => new Set(intents.flatMap(({ id, triggerId }) => [id, triggerId]));

function expectSameSlots(live: readonly Intent[], sent: readonly Intent[]): void {
  expect(live.length).toBeGreaterThan(0);
  expect(slotsOf(sent)).toEqual(slotsOf(live));
  expect([...idsOf(sent).intersection(idsOf(live))]).toEqual([]);
}

const uniqueIds = fc.constantFrom(undefined, 'trigger_id', 'event_id', 'string(event.order_id) + ":paid"');
const people: Arbitrary<readonly string[]> = fc.uniqueArray(fc.constantFrom('ada', 'bob', 'cy', 'di'), {
  minLength: 1,
});
const events = fc.record({ order_id: fc.nat(), people }).map(({ order_id: id, people: names }) => {
  const body: { readonly [name: string]: Json } = { order_id: id, to: names.map((name) => `${name}@example.com`) };
  return { names, event: givenEvent({ ...body, user_ids: names }, `evt_${id}`) };
});

describe('a message of a sending job (a person sends missed messages) blocks the live message for the same unique_id, under an own id', () => {
  it('if the event names the recipients', () => {
    fc.assert(
      fc.property(events, uniqueIds, ({ event }, uniqueId) => {
        const recipients = { from: 'event', for_each: 'event.to', to: { email: 'item' } } as const;
        const configuration = shop({ ...recipients, ...(uniqueId !== undefined && { unique_id: uniqueId }) });
        const intentsOf = (runId: string | null) =>
          evaluate(event, configuration, runId).flatMap(({ intents }) => intents);
        expectSameSlots(intentsOf(null), intentsOf(job));
      }),
    );
  });

  it('if a partner names the recipients', () => {
    fc.assert(
      fc.property(events, uniqueIds, ({ event, names }, uniqueId) => {
        const recipients = { from: 'lookup', integration: 'crm', user_ids: 'event.user_ids' } as const;
        const configuration = shop({ ...recipients, ...(uniqueId !== undefined && { unique_id: uniqueId }) });
        const items = names.map((name) => ({
          userId: name,
          to: { email: `${name}@example.com`, phone: null, token: null },
          variables: {},
        }));
        const resolve = (trigger: Trigger) => {
          const resolved = resolveLookup(givenLookup({ trigger, items }), configuration, book, givenIds.derive);
          return resolved.ok ? resolved.value.intents : [];
        };
        const triggersOf = (runId: string | null) =>
          evaluate(event, configuration, runId).flatMap(({ triggers }) => triggers);
        const sent = triggersOf(job).map((trigger) => ({ ...trigger, sentBy: SENT_BY_ADA }));
        expectSameSlots(triggersOf(null).flatMap(resolve), sent.flatMap(resolve));
      }),
    );
  });
});
