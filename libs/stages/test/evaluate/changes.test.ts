import type { Configuration, NotificationBody, RuleBody } from '@carillon/domain/configuration';
import type { Change } from '@carillon/domain/changes';
import { recipientsOf } from '@carillon/domain/lookups';
import {
  bindingsOf,
  emptyMemory,
  entityOf,
  evaluateRule,
  startTurn,
  stepAtEvent,
  StepBudget,
  type CompiledForm,
} from '@carillon/domain/rules';
import { runToCompletion } from '@carillon/kernel';
import {
  configurationOf,
  givenChange,
  givenEvent,
  givenIds,
  givenLookupRule,
  givenRule,
  givenRuleBook,
  integration,
  ORDER_PAID,
  orderShop,
  template,
} from '@carillon/testing/given';
import { describe, expect, it } from 'vitest';
import { evaluateEvent, templateContext } from '../../src/index.ts';

const book = givenRuleBook();
const rule = ORDER_PAID.rules['paid'];
if (!rule) throw new Error('there is a rule');
const shop = (change: Partial<RuleBody> = {}, more: Partial<NotificationBody> = {}): Configuration =>
  configurationOf(orderShop({ ...ORDER_PAID, ...more, rules: { paid: { ...rule, ...change } } }));
const evaluate = (configuration: Configuration, change: Partial<Change> & Pick<Change, 'event'>) =>
  evaluateEvent(givenChange(change), configuration, book, givenIds.derive);
const PAID = { status: 'paid', order_id: 'A-1', customer: { email: 'ada@example.com', name: 'Ada' } };
const OPEN = { ...PAID, status: 'open' };

describe('a rule on a stream of database changes', () => {
  it.each([
    ['create', undefined, true],
    ['update', undefined, true],
    ['delete', undefined, false],
    ['snapshot', undefined, false],
    ['create', ['delete', 'snapshot'], false],
    ['update', ['delete', 'snapshot'], false],
    ['delete', ['delete', 'snapshot'], true],
    ['snapshot', ['delete', 'snapshot'], true],
  ] as const)('evaluates a row %s when its setting changes is %j: %s', (op, changes, isEvaluated) => {
    const previous = op === 'update' || op === 'delete' ? OPEN : null;
    const configuration = shop({ when: 'true', ...(changes && { changes }) });
    const [evaluated] = evaluate(configuration, { op, event: PAID, previous });
    expect(evaluated?.outcome.kind).toBe(isEvaluated ? 'fired' : 'not_fired');
    expect(evaluated?.outcome).toMatchObject(isEvaluated ? {} : { because: 'other_change' });
  });

  it('spends no budget on a change that it ignores, and makes no message', () => {
    const configuration = shop({ when: 'event.nothing.at.all' });
    const of = () => evaluate(configuration, { op: 'snapshot', event: PAID, previous: null })[0];
    expect(of()?.outcome.kind).toBe('not_fired');
    expect(of()).toBe(of());
  });

  it('keeps its state when it ignores a change', () => {
    const asked: boolean[] = [];
    const form: CompiledForm = {
      name: 'asking',
      expressions: [],
      step: (_kept, occasion, effect) => {
        asked.push(occasion.kind === 'event' && occasion.holds === true);
        return { kept: asked.length, effect };
      },
    };
    const memory = { forms: [form], readsPrevious: false };
    const asking = { ...givenRule(rule.recipients, { when: 'true' }), memory };
    const step = (op: Change['op']) => {
      const event = { ...givenChange({ op, event: PAID, previous: OPEN }), key: 'A-1' };
      const turn = startTurn(emptyMemory(entityOf(event)), event, event.appendedAt);
      if (turn === null) throw new Error('an event that was not applied');
      return runToCompletion(stepAtEvent(asking, turn, bindingsOf(event), new StepBudget(), () => 'trg_1'));
    };
    expect(step('delete')).toMatchObject({
      outcome: { kind: 'not_fired', because: 'other_change' },
      memory: undefined,
      decision: null,
    });
    expect(asked).toEqual([]);
    expect(step('update')).toMatchObject({ outcome: { kind: 'fired' }, memory: { kept: { asking: 1 } } });
  });

  it('evaluates plain events on the stream whatever its setting changes is', () => {
    const evaluated = evaluateEvent(givenEvent(PAID), shop({ changes: ['delete'] }), book, givenIds.derive);
    expect(evaluated[0]?.outcome.kind).toBe('fired');
  });

  it('can read the previous row in condition, recipients and variables', () => {
    const recipients = {
      from: 'event' as const,
      to: { email: 'event.customer.email' },
      unique_id: 'event.order_id + ":" + previous.status + ":" + op',
      variables: { was: 'previous.status', at: 'string(time)' },
    };
    const outcome = evaluateRule(
      givenRule(recipients, { when: 'changedFromTo(event.status, "open", "paid")' }),
      givenChange({ event: PAID, previous: OPEN }),
      () => 'trg_1',
    );
    if (outcome.kind !== 'fired') throw new Error(JSON.stringify(outcome));
    expect(outcome.recipients[0]).toMatchObject({
      uniqueId: 'A-1:open:update',
      variables: { was: 'open', at: '2026-11-28T06:30:00.123Z' },
    });
  });

  it.each([
    ['field_unknown', 'event.notes == "x"', { unknown: ['notes'], previous: OPEN }],
    ['before_unknown', 'changed(event.status)', {}],
  ] as const)('fails with %s if its condition needs a value that the database did not send', (reason, when, change) => {
    const [evaluated] = evaluate(shop({ when }), { event: PAID, ...change });
    expect(evaluated?.outcome).toMatchObject({ kind: 'failed', reason });
    expect(evaluated?.outcome.kind === 'failed' && evaluated.outcome.error).toContain(
      'ALTER TABLE public.orders REPLICA IDENTITY FULL;',
    );
  });

  it.each([
    ['to.email', { to: { email: 'event.notes' } }],
    ['person', { person: 'event.notes' }],
    ['variables.notes', { variables: { notes: 'event.notes' } }],
    ['unique_id', { unique_id: 'event.notes' }],
    ['where', { where: 'event.notes == "x"' }],
  ])('drops a recipient whose %s the database did not send, because null would be a guess', (field, recipients) => {
    const given = { to: { email: 'event.customer.email' }, ...recipients };
    const event = givenChange({ event: PAID, previous: OPEN, unknown: ['notes'] });
    const outcome = evaluateRule(givenRule(given), event, () => 'trg_1');
    if (outcome.kind !== 'fired') throw new Error(JSON.stringify(outcome));
    expect(outcome.recipients).toEqual([]);
    expect(outcome.dropped).toMatchObject([{ reason: 'field_unknown' }]);
    expect(outcome.dropped[0]?.detail).toMatch(new RegExp(`^${field}: field_unknown: notes did not change`));
  });
});

describe('the template of a message about a database change', () => {
  const configuration = (fields: string) =>
    configurationOf([
      ...orderShop({ ...ORDER_PAID, rules: { paid: { ...rule, when: 'true' } } }),
      template('order-paid', { email: { subject: fields, text: fields } }),
    ]);
  const variablesOf = (change: Partial<Change> & Pick<Change, 'event'>) =>
    evaluate(configuration('was {{ previous.status }}'), change)[0]?.intents[0]?.variables;

  it('can read the previous row by its name', () => {
    expect(variablesOf({ event: PAID, previous: OPEN })?.['previous']).toEqual(OPEN);
    expect(variablesOf({ op: 'create', event: PAID, previous: null })).not.toHaveProperty('previous');
  });

  it('reads an event field or variable instead if it has the same name as the previous row', () => {
    expect(variablesOf({ event: { ...PAID, previous: 'mine' }, previous: OPEN })?.['previous']).toBe('mine');
    const names = { names: ['previous'], all: false };
    expect(templateContext({}, { previous: 'given' }, names, { previous: OPEN })).toEqual({ previous: 'given' });
    expect(templateContext({ a: 1 }, {}, { names: [], all: true }, { previous: OPEN })).toEqual({
      a: 1,
      previous: OPEN,
    });
  });
});

describe('a rule on database changes that asks a partner for recipients', () => {
  const lookup = { from: 'lookup' as const, integration: 'crm', user_ids: 'event.user_ids' };
  const triggerOf = (recipients: object, change: Partial<Change> & Pick<Change, 'event'>) => {
    const crm = integration('crm', {
      kind: 'lookup',
      url: 'https://a.example',
      authorization: { key: { secret: 'A' } },
    });
    const body = {
      ...ORDER_PAID,
      rules: { paid: { ...rule, when: 'true', recipients: { ...lookup, ...recipients } } },
    };
    const evaluated = evaluateEvent(
      givenChange(change),
      configurationOf([...orderShop(body), crm]),
      book,
      givenIds.derive,
    );
    const trigger = evaluated[0]?.triggers[0];
    if (!trigger) throw new Error(JSON.stringify(evaluated[0]?.outcome));
    return trigger;
  };
  const change = { event: { ...PAID, user_ids: ['u-1'] }, previous: OPEN };
  const item = { userId: 'u-1', to: { email: 'ada@example.com', phone: null, token: null }, variables: {} };

  it('still has the change when the partner has answered', () => {
    const recipients = { unique_id: 'event.order_id + previous.status', where: 'changed(event.status)' };
    const trigger = triggerOf(recipients, change);
    const found = recipientsOf(givenLookupRule(recipients), { trigger, items: [item] });
    expect(found.recipients).toMatchObject([{ uniqueId: 'A-1open' }]);
  });

  it('carries the previous row only if an expression reads it', () => {
    expect(triggerOf({ unique_id: 'event.order_id' }, change).change).toMatchObject({ op: 'update' });
    expect(triggerOf({ unique_id: 'event.order_id' }, change).change).not.toHaveProperty('previous');
  });

  it('drops a recipient if the partner’s answer needs a value that the database did not send', () => {
    const recipients = { unique_id: 'event.order_id', where: 'changed(event.status)' };
    const { previous: _, ...withoutRowBefore } = change;
    const trigger = triggerOf(recipients, withoutRowBefore);
    const found = recipientsOf(givenLookupRule(recipients), { trigger, items: [item] });
    expect(found).toMatchObject({ recipients: [], dropped: [{ reason: 'before_unknown' }] });
  });
});
