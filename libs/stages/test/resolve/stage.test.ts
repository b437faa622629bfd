import type { Lookup } from '@carillon/domain/lookups';
import type { LogRecord } from '@carillon/ports';
import {
  givenLookup,
  givenTrigger,
  integration,
  notification,
  ORDER_PAID,
  ORDERS,
  PAID_MAIL,
  SENT_BY_ADA,
  stream,
  template,
} from '@carillon/testing/given';
import { openTopology, type Topology } from '@carillon/testing/topology';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  createEncoder,
  createResolveStage,
  REDRIVEN_FROM_HEADER,
  type ResolvePorts,
  type RuleBook,
} from '../../src/index.ts';

let topology: Topology;
let configNumber: number;
beforeEach(async () => {
  topology = await openTopology({ partitions: 1 });
  const recipients = { from: 'lookup', integration: 'crm', user_ids: 'event.watchers', unique_id: 'event_id' } as const;
  configNumber = await topology.publish(
    stream('orders', ORDERS),
    template('order-paid', PAID_MAIL),
    integration('crm', { kind: 'lookup', url: 'https://crm.example.com', authorization: { key: { secret: 'K' } } }),
    notification('order-paid', { ...ORDER_PAID, rules: { paid: { stream: 'orders', when: 'true', recipients } } }),
  );
});
afterEach(() => topology.close());

const answer = (email: string, rule = 'order-paid.paid'): Lookup =>
  givenLookup({
    trigger: givenTrigger({ configNumber, rule, ruleId: `shop/${rule}` }),
    items: [{ userId: 'ada', to: { email, phone: null, token: null }, variables: {} }],
  });
const record = (lookup: Lookup, offset: number): LogRecord => ({
  topic: 'carillon.lookups',
  partition: 0,
  offset,
  time: 1,
  key: 'k',
  value: topology.ports.codecs.lookup.encode(lookup),
  headers: { workspace: 'shop' },
});
const resolve = (...records: readonly LogRecord[]) => resolveWith(topology.ports, ...records);
async function resolveWith(ports: ResolvePorts, ...records: readonly LogRecord[]) {
  const result = await createResolveStage(ports).handle(records, { partition: 0, configNumber, watermark: 0 });
  const intents = result.outputs.flatMap((output) => (output.kind === 'intent' ? [output.intent] : []));
  return {
    intents,
    told: intents.map(({ to }) => to),
    fates: result.fates,
    topics: result.outputs.map((output) => createEncoder(topology.ports)(output).topic),
  };
}

describe('two answers of a partner to one question', () => {
  it('count once: the first on the log is used and the other is superseded, in one batch and across batches', async () => {
    const first = record(answer('first@example.com'), 3);
    const second = record(answer('second@example.com'), 4);
    expect(await resolve(first, second)).toMatchObject({
      told: ['first@example.com'],
      fates: [{ kind: 'done' }, { kind: 'dropped', reason: 'superseded' }],
    });
    expect((await resolve(second)).told).toEqual([]);
  });

  it('give the same messages when they are read again after a crash', async () => {
    const first = record(answer('first@example.com'), 3);
    expect((await resolve(first)).told).toEqual(['first@example.com']);
    expect((await resolve(first)).told).toEqual(['first@example.com']);
  });
});

it('a partner’s answer whose rule no longer exists becomes a dead letter, and the others are processed', async () => {
  const odd = record({ ...answer('x@example.com', 'order-paid.gone') }, 5);
  expect(await resolve(odd)).toMatchObject({
    told: [],
    topics: ['carillon.dead-letters'],
    fates: [{ kind: 'parked', reason: 'rule_gone' }],
  });
});

it('messages of a sending job are due when the partner has answered, others from the time of their event', async () => {
  const lookup = answer('ada@example.com');
  const sent = { ...lookup, trigger: { ...lookup.trigger, sentBy: SENT_BY_ADA } };
  const { causedAt } = lookup.trigger;
  const time = causedAt + 3 * 86_400_000;
  const dueTimes = async (one: Lookup) =>
    (await resolve({ ...record(one, 3), time })).intents.map(({ sendAt }) => sendAt);
  expect([await dueTimes(sent), await dueTimes(answer('ada@example.com'))]).toEqual([[time], [causedAt]]);
});

it('messages of a partner’s answer keep the sending job of the question', async () => {
  const lookup = answer('ada@example.com');
  const sent = { ...lookup, trigger: { ...lookup.trigger, sentBy: SENT_BY_ADA } };
  expect((await resolve(record(sent, 3))).intents).toMatchObject([{ sentBy: SENT_BY_ADA }]);
  expect((await resolve(record(answer('ada@example.com', 'order-paid.paid'), 3))).intents[0]).not.toHaveProperty(
    'sentBy',
  );
});

describe('a partner’s answer that became a dead letter and is processed again (redriven)', () => {
  const redriven = (from: LogRecord, offset: number, time: number): LogRecord => ({
    ...from,
    offset,
    time,
    headers: { ...from.headers, [REDRIVEN_FROM_HEADER]: `carillon.lookups/0@${from.offset}` },
  });

  it('makes its messages once the cause is gone, with the same lifetime as at first', async () => {
    const first = record(answer('ada@example.com'), 3);
    const { book } = topology.ports;
    const broken: RuleBook = {
      ...book,
      ruleOf(...which) {
        const known = book.ruleOf(...which);
        return known?.ok ? { ok: false, placed: known.placed, error: 'cannot be compiled' } : known;
      },
    };
    expect(await resolveWith({ ...topology.ports, book: broken }, first)).toMatchObject({
      fates: [{ kind: 'parked', reason: 'rule_gone' }],
    });
    const { intents, fates } = await resolve(redriven(first, 9, 5_000_000));
    expect(fates).toEqual([{ kind: 'done' }]);
    expect(intents).toMatchObject([{ to: 'ada@example.com', notAfter: 5_000_000 + 86_400_000 }]);
    const again = await resolve(redriven(first, 12, 6_000_000));
    expect(again.intents.map(({ id }) => id)).toEqual(intents.map(({ id }) => id));
  });

  it('becomes a dead letter again if the cause is still there', async () => {
    const odd = record(answer('x@example.com', 'order-paid.gone'), 5);
    await resolve(odd);
    expect(await resolve(redriven(odd, 8, 1))).toMatchObject({
      topics: ['carillon.dead-letters'],
      fates: [{ kind: 'parked', reason: 'rule_gone' }],
    });
  });

  it('makes no message if another answer was used', async () => {
    await resolve(record(answer('first@example.com'), 3));
    const later = record(answer('second@example.com'), 4);
    expect((await resolve(redriven(later, 9, 1))).fates).toEqual([{ kind: 'dropped', reason: 'superseded' }]);
  });
});
