import type { EventRecipients, EventStream, RuleBody } from '@carillon/domain/configuration';
import type { JsonType } from '@carillon/domain/events';
import type { JsonObject } from '@carillon/kernel';
import { givenLookupRule, givenRule, givenTemplateNeeds, MORNING } from '@carillon/testing/given';
import { describe, expect, it } from 'vitest';
import { minimumFields, sampleRule, type RuleSample } from '../../src/index.ts';

type Given = Partial<Omit<RuleBody, 'recipients' | 'stream'>> & {
  readonly recipients?: Omit<EventRecipients, 'from' | 'to'> & { readonly to?: EventRecipients['to'] };
  readonly template?: string;
  readonly stream?: Partial<EventStream>;
  readonly fired?: JsonObject;
};

function sampleOf({ recipients, template = '', fired, stream, ...rule }: Given): RuleSample {
  const compiled = givenRule(recipients, rule);
  const around = {
    path: 'shop/orders',
    workspace: 'shop',
    from: null,
    key: null,
    time: null,
    format: 'json' as const,
    security: { api_keys: [] },
    ...stream,
  };
  const event = fired ? { body: fired, change: null } : null;
  return sampleRule(compiled, minimumFields(compiled, around, [givenTemplateNeeds(template)]), event, MORNING);
}

const originsOf = ({ fields }: RuleSample): readonly string[] =>
  fields.map(({ path, origin, usedBy }) => `${path} ${origin} (${usedBy.join(', ')})`);

describe('a sample for a condition of comparisons with literals', () => {
  it('has the fields of rule, template and stream, with values that fire and marked placeholders', () => {
    const sample = sampleOf({
      when: 'event.status == "paid" && event.total > 100',
      recipients: { to: { email: 'event.customer.email' }, unique_id: 'event.order_id' },
      template: 'Hello {{customer.name}}, {{currency total "EUR"}} on {{date paid_at}}',
      stream: { key: 'event.order_id', time: 'event.updated_at' },
    });
    expect(sample.event).toEqual({
      order_id: 'A-1001',
      updated_at: '2026-01-31T08:00:00.000Z',
      status: 'paid',
      total: 101,
      customer: { email: 'ada@example.com', name: 'Ada' },
      paid_at: '2026-01-31T08:00:00.000Z',
    });
    expect(sample).toMatchObject({ fires: true, recipients: 1 });
    expect(originsOf(sample)).toEqual([
      'order_id placeholder (key, unique_id)',
      'updated_at placeholder (time)',
      'status condition (when)',
      'total condition (when, template)',
      'customer.email placeholder (to.email)',
      'customer.name placeholder (template)',
      'paid_at placeholder (template)',
    ]);
  });

  it.each([
    ['event.a == 1 || event.b == 2', { a: 1 }],
    ['(event.a == 1 || event.b == 2) && event.a != 1', { a: 2, b: 2 }],
    ['event.a in ["x", "y"] && event.a != "x"', { a: 'y' }],
    ['event.a > 1 && event.a < 2', { a: 1.25 }],
    ['event.a >= 10 && event.a < 11 && event.a != 10', { a: 10.2 }],
    ['!has(event.deleted_at) && has(event.plan)', { plan: '<plan>' }],
    ['event.sku.startsWith("A-") && event.sku.endsWith("-X")', { sku: 'A--X' }],
    ['event.note.contains("late") && !event.note.startsWith("late")', { note: 'xlate' }],
    ['event.a < "b" && event.a > "a"', { a: 'aa' }],
    ['event.open && !event.closed', { open: true, closed: false }],
    ['"vip" in event.tags', { tags: ['vip'] }],
    ['"vip" in event && event.vip == 3', { vip: 3 }],
    ['event.gone == null', { gone: null }],
    ['event.items.exists(i, i.qty > 2 && i.sku == "A")', { items: [{ qty: 3, sku: 'A' }] }],
    ['event.lines[1].qty == 7', { lines: [null, { qty: 7 }] }],
    ['event.customer != null && event.customer.age >= 18', { customer: { age: 19 } }],
    ['event.?a.?b.orValue(0) > 5', { a: { b: 6 } }],
    ['event.id == 9007199254740993', { id: 9007199254740993n }],
    ['event["odd name"] == "x"', { 'odd name': 'x' }],
    ['size(event.items) > 0 && event.a == 1', { items: '<items>', a: 1 }],
  ])('for %s is an event that fires', (when, expected) => {
    const { event, fires } = sampleOf({ when, recipients: { to: { email: '"ada@example.com"' } } });
    expect(fires).toBe(true);
    expect({ ...event }).toMatchObject(expected);
  });

  it('has a recipient: an element of for_each that where keeps', () => {
    const sample = sampleOf({
      when: 'event.kind == "comment"',
      recipients: {
        for_each: 'event.watchers',
        to: { email: 'item.email' },
        unique_id: 'item.id',
        where: 'item.muted == false',
        variables: { name: 'item.name' },
      },
      template: '{{name}} on {{title}}',
    });
    expect(sample.event).toEqual({
      kind: 'comment',
      watchers: [{ email: 'ada@example.com', id: '<id>', muted: false, name: 'Ada' }],
      title: '<title>',
    });
    expect(sample).toMatchObject({ fires: true, recipients: 1 });
  });
});

describe('a sample for a condition of another form', () => {
  const when = 'event.a * event.b > 100 && event.kind == "x"';
  const fired = { a: 40, b: 3, kind: 'x', email: 'grace@customer.example', name: 'Grace', secret: 's' };
  const recipients = { to: { email: 'event.email' } };

  it('has the fields of an event that fired, and never its addresses', () => {
    const sample = sampleOf({ when, recipients, fired, template: '{{name}}' });
    expect(sample.event).toEqual({ a: 40, b: 3, kind: 'x', email: 'ada@example.com', name: 'Grace' });
    expect(sample).toMatchObject({ fires: true, recipients: 1 });
    expect(originsOf(sample)).toContain('email placeholder (to.email)');
    expect(originsOf(sample)).toContain('a fired_event (when)');
  });

  it('has an address of it if the rule would not fire without it', () => {
    const sample = sampleOf({ when: 'event.email.matches("^g.*@customer")', recipients, fired });
    expect(sample.event).toEqual({ email: 'grace@customer.example' });
    expect(sample.fires).toBe(true);
  });

  it('has placeholders of the right types if no event fired, and says that it does not fire', () => {
    const sample = sampleOf({ when: 'event.a * event.b > 100', recipients });
    expect(sample).toMatchObject({ event: { a: 1, b: 1, email: 'ada@example.com' }, fires: false });
    expect(originsOf(sample)).toEqual(['a placeholder (when)', 'b placeholder (when)', 'email placeholder (to.email)']);
  });

  it('names the expressions that use the event as a whole', () => {
    const compiled = givenRule({}, { when: 'size(event) > 3' });
    const needs = [{ fields: [], all: true }];
    expect(minimumFields(compiled, undefined, needs).whole).toEqual(['when', 'template']);
  });

  it('has field types from known events if nothing else determines them', () => {
    const compiled = givenRule({}, { when: 'event.a == event.b' });
    const seen = new Map<string, readonly JsonType[]>([
      ['a', ['null', 'number']],
      ['b', ['number', 'string']],
    ]);
    const { fields } = minimumFields(compiled, undefined, [], seen);
    expect(fields.map(({ path, type }) => `${path} ${type}`)).toEqual(['a number', 'b null', 'email email']);
  });
});

describe('a sample for a rule that asks a partner', () => {
  it('has the user ids, and leaves fields that no event has to the partner', () => {
    const rule = givenLookupRule({ user_ids: 'event.watchers', where: 'variables.wants && event.open' });
    const seen = new Map<string, readonly JsonType[]>([
      ['title', ['string']],
      ['watchers', ['array']],
    ]);
    const minimum = minimumFields(rule, undefined, [givenTemplateNeeds('{{name}} {{title}} {{plan.name}}')], seen);
    expect(minimum.answered).toEqual(['name', 'plan']);
    const sample = sampleRule(rule, minimum, null, MORNING);
    expect(sample).toMatchObject({ fires: true, recipients: 1 });
    expect(sample.event).toEqual({ watchers: ['<watchers>'], open: true, title: '<title>' });
  });
});

describe('the sample of a rule on changes', () => {
  const from = { integration: 'shop-db', tables: { 'public.orders': 'event.id', 'public.payments': 'event.order_id' } };
  const to = { email: 'event.email' };
  const change = (when: string, more: Partial<Given> = {}) => {
    const sample = sampleOf({ when, recipients: { to, unique_id: 'event.id' }, stream: { from }, ...more });
    expect(sample.fires).toBe(true);
    expect(sample.change?.event).toEqual(sample.event);
    return sample.change;
  };

  it.each([
    ['changedTo(event.status, "paid")', { op: 'update', event: { status: 'paid' } }],
    ['changedFromTo(event.status, "open", "paid")', { event: { status: 'paid' }, previous: { status: 'open' } }],
    ['changed(event.status)', { op: 'update', previous: { status: 'before' } }],
    ['changed(event.total) && event.total > 100', { event: { total: 101 } }],
    ['op == "create" && event.status == "open"', { op: 'create', event: { status: 'open' }, previous: null }],
    ['op == "create" || changedTo(event.status, "paid")', { op: 'create' }],
    ['previous.total < 10 && event.total >= 10', { op: 'update' }],
    ['!changedTo(event.status, "paid") && event.status == "paid"', { event: { status: 'paid' } }],
    ['source.table == "public.payments"', { source: { table: 'public.payments' } }],
  ])('fires for %s', (when, expected) => {
    expect(change(when)).toMatchObject(expected);
  });

  it('has a kind of change that the rule evaluates', () => {
    expect(change('event.status == "paid"', { changes: ['delete'] })).toMatchObject({ op: 'delete' });
    expect(change('event.status == "paid"', { changes: ['snapshot'] })).toMatchObject({
      op: 'snapshot',
      previous: null,
    });
  });

  it('has the key of the first table', () => {
    expect(change('changedTo(event.status, "paid")')?.event).toHaveProperty('id');
  });
});
