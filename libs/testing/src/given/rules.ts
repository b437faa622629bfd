import { createExpressionLanguage } from '@carillon/adapter-cel';
import { readChange, writeChange, type Change, type ChangeSource } from '@carillon/domain/changes';
import {
  streamTable,
  type EventRecipients,
  type LookupRecipients,
  type PlacedRule,
  type RuleBody,
} from '@carillon/domain/configuration';
import { readEvent, type SourceEvent } from '@carillon/domain/events';
import { compileRule, type CompiledRule } from '@carillon/domain/rules';
import type { EventId, Json, LogId } from '@carillon/kernel';
import type { ExpressionLanguage } from '@carillon/ports';
import { stringifyJson } from '@carillon/kernel';
import { configurationOf, notification, ORDER_PAID, ORDERS, stream } from './configuration.ts';
import { MORNING } from './moments.ts';

const language = createExpressionLanguage();
/** The expression language of the product. */
export const givenExpressions: ExpressionLanguage = language;
export const compileGiven = (placed: PlacedRule) => compileRule(placed, language);

/** A rule on `shop/orders`, compiled by the expression language of the product; it fires unless told otherwise. */
export function givenRule(
  recipients: Omit<EventRecipients, 'from' | 'to'> & { readonly to?: EventRecipients['to'] } = {},
  rule: Partial<Omit<RuleBody, 'recipients'>> = {},
): CompiledRule {
  return compiledRule({
    stream: 'orders',
    when: 'true',
    ...rule,
    recipients: { from: 'event', to: { email: 'event.email' }, ...recipients },
  });
}

/** A rule on `shop/orders` that asks the partner `crm` about `event.user_ids`. */
export const givenLookupRule = (recipients: Partial<LookupRecipients> = {}): CompiledRule =>
  compiledRule({
    stream: 'orders',
    when: 'true',
    recipients: { from: 'lookup', integration: 'crm', user_ids: 'event.user_ids', ...recipients },
  });

function compiledRule(body: RuleBody): CompiledRule {
  const configuration = configurationOf([
    stream('orders', ORDERS),
    notification('order-paid', { ...ORDER_PAID, rules: { paid: body } }),
  ]);
  const placed = streamTable(configuration).rules.get('shop/orders')?.[0];
  if (!placed) throw new Error('the rule is not in its stream');
  const compiled = compileGiven(placed);
  if (!compiled.ok) throw new Error(compiled.error.map((fault) => `${fault.field}: ${fault.message}`).join('; '));
  return compiled.value;
}

/** An event of `shop/orders` with this body, read as the engine reads it. */
export function givenEvent(body: { readonly [name: string]: Json }, id = 'evt_1', offset = 5): SourceEvent {
  const read = readEvent(new TextEncoder().encode(stringifyJson(body)));
  if (!read.ok) throw new Error(read.error.detail);
  return {
    id: id as EventId,
    workspace: 'shop',
    stream: 'shop/orders',
    key: null,
    body: read.value.body,
    change: null,
    position: { logId: 'log_1' as LogId, topic: 'carillon.events', partition: 0, offset },
    appendedAt: MORNING,
    time: MORNING,
    traceparent: null,
  };
}

/** A change of `public.orders` that reaches `shop/orders`; an update from one row to another unless told otherwise. */
export function givenChange(
  { previous, ...given }: Partial<Change> & Pick<Change, 'event'>,
  id = 'evt_1',
  offset = 5,
): SourceEvent {
  const source: ChangeSource = {
    integration: 'shop-db',
    table: 'public.orders',
    tx: 728,
    position: '0/1948580:3',
    at: '2026-11-28T06:30:00.123456Z',
  };
  const change: Change = { op: 'update', unknown: [], source, ...given, ...(previous !== undefined && { previous }) };
  const read = readChange(writeChange(change));
  if (!read.ok) throw new Error(read.error.detail);
  return { ...givenEvent({}, id, offset), body: read.value.event, change: read.value, time: Date.parse(source.at) };
}
