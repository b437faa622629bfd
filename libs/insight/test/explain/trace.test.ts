import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { EventRow } from '@carillon/ports';
import { givenIntent, ORDER_PAID, orderShop, SENT_BY_ADA } from '@carillon/testing/given';
import { openTopology, type Topology, projectAll, settle as settleOn } from '@carillon/testing/topology';
import { deliveryIdOf, projections } from '@carillon/stages';
import { traceDelivery, traceEvent, type TraceStep } from '../../src/index.ts';

let topology: Topology;
const [paid] = Object.values(ORDER_PAID.rules);
if (!paid) throw new Error('there is a rule');
const RULES = { paid, big: { ...paid, when: 'event.total > 100' }, off: { ...paid, enabled: false } };

beforeEach(async () => {
  topology = await openTopology({ partitions: 1 });
  await topology.publish(...orderShop({ ...ORDER_PAID, rules: RULES }));
});
afterEach(() => topology.close());

const order = (status: string, total?: number) => ({
  status,
  order_id: 'A-1',
  customer: { email: 'ada@example.com' },
  ...(total !== undefined && { total }),
});
const settle = (): Promise<void> => settleOn(topology);
const project = (): Promise<void> => projectAll(topology);
const stepsOf = async (id: string): Promise<readonly TraceStep[]> => {
  const trace = await traceEvent(id, topology.tracePorts);
  if (!trace) throw new Error('there is no such event');
  return trace.steps;
};
const linesOf = (steps: readonly TraceStep[]) => steps.map(({ step, rule, text }) => `${step} ${rule ?? ''}: ${text}`);

describe('the trace of an event', () => {
  it('without a firing shows the rules that received it and why each did not fire, with values', async () => {
    const id = await topology.event(order('open', 7));
    await settle();
    const steps = await stepsOf(id);
    expect(linesOf(steps).slice(1)).toEqual([
      'evaluation : evaluated with configuration 0: 3 rules saw it, 0 fired',
      'rule order-paid.paid: did not fire: `when` is false',
      'rule order-paid.big: did not fire: `when` is false',
      'rule order-paid.off: did not fire: it is switched off',
    ]);
    expect(steps[2]?.lines.join('\n')).toContain('event.status  →  "open"');
    expect(steps[3]?.lines.join('\n')).toMatch(/event\.total > 100.*→ {2}false/);
  });

  it('shows the error of a rule that could not be evaluated', async () => {
    const id = await topology.event(order('open'));
    await settle();
    const big = (await stepsOf(id)).find(({ rule }) => rule === 'order-paid.big');
    expect(big).toMatchObject({ reason: 'rule_error' });
    expect(big?.text).toContain('total');
  });

  it('with a firing continues to intent and delivery, with positions', async () => {
    const id = await topology.event(order('paid', 7));
    await settle();
    const steps = await stepsOf(id);
    expect(steps.map(({ step }) => step)).toEqual([
      'event',
      'evaluation',
      'trigger',
      'intent',
      'rule',
      'rule',
      'delivery',
    ]);
    expect(steps[0]?.position).toBe('carillon.events/0@1');
    expect(steps[3]?.position).toBe('carillon.intents/0@0');
    expect(steps[6]).toMatchObject({ state: 'WAITING', reason: 'new' });
    const { person } = steps[3] ?? {};
    expect(person).toMatch(/./);
    expect(steps.map((one) => one.person)).toEqual([null, null, null, person, null, null, person]);
  });

  it('shows that its intent is a duplicate, and of which delivery', async () => {
    await topology.event(order('paid', 7));
    const second = await topology.event(order('paid', 8));
    await settle();
    const steps = await stepsOf(second);
    const [delivery] = (await topology.data.ledger.list({}, 5)).items;
    expect(steps.at(-1)).toMatchObject({
      step: 'duplicate',
      state: 'SUPPRESSED',
      text: `duplicate of ${delivery?.id}`,
    });
    const story = await traceDelivery(delivery?.id ?? '', topology.tracePorts);
    expect(story?.steps.filter(({ step }) => step === 'duplicate')).toMatchObject([
      { text: `event ${second} would have sent the same message again` },
    ]);
  });

  it('says that the event is not evaluated yet, and how far the engine is behind', async () => {
    const id = await topology.event(order('paid'));
    await project();
    expect((await stepsOf(id)).at(-1)?.text).toBe(
      'not evaluated yet: the engine is 2 records behind in this partition',
    );
  });

  it('uses the configuration of its time, whatever was published since', async () => {
    const id = await topology.event(order('paid', 7));
    await topology.publish(...orderShop({ ...ORDER_PAID, enabled: false }).slice(1, 2));
    await settle();
    expect(linesOf(await stepsOf(id)).join('\n')).toContain('evaluated with configuration 0: 3 rules saw it, 1 fired');
  });

  it('shows what differs between the version that evaluated it and the published one', async () => {
    const id = await topology.event(order('paid', 7));
    await settle();
    const big = { ...RULES.big, when: 'event.total > 80' };
    await topology.publish(
      ...orderShop({ ...ORDER_PAID, rules: { paid: { ...paid, enabled: false }, big } }).slice(1, 2),
    );
    const steps = await stepsOf(id);
    const linesOfRule = (rule: string) => steps.find((one) => one.rule === rule && one.step !== 'intent')?.lines;
    expect(linesOfRule('order-paid.big')?.slice(-2)).toEqual([
      'since version 1 the rule was changed; version 2 is published:',
      '  when: event.total > 100  →  event.total > 80',
    ]);
    expect(linesOfRule('order-paid.off')).toEqual(['since version 1 the rule was removed']);
    const since = ['since version 1 the rule was changed; version 2 is published:', '  enabled: true  →  false'];
    expect(linesOfRule('order-paid.paid')).toEqual(since);
    const [delivery] = (await topology.data.ledger.list({}, 5)).items;
    const story = await traceDelivery(delivery?.id ?? '', topology.tracePorts);
    expect(story?.steps.find(({ step }) => step === 'trigger')?.lines).toEqual(since);
  });

  it('is empty for an unknown event', async () => {
    expect(await traceEvent('evt_gone', topology.tracePorts)).toBeNull();
    expect(await traceDelivery('dlv_gone', topology.tracePorts)).toBeNull();
  });

  it('has addresses only as names of people, and only those event fields that conditions read', async () => {
    const id = await topology.event({ ...order('paid', 7), note: 'a secret wish' });
    await settle();
    const [delivery] = (await topology.data.ledger.list({}, 5)).items;
    const told = JSON.stringify([await stepsOf(id), await traceDelivery(delivery?.id ?? '', topology.tracePorts)]);
    // The rule names nobody, so that the address is the name of the person: answers are masked by their schema.
    expect(told.replaceAll('"person":"ada@example.com"', '')).not.toContain('ada@example.com');
    expect(told).not.toContain('secret wish');
  });
});

const SENT = 'order-paid by email, template order-paid version 1, sent by ada in job_sends of run_compares';
it('has author, job and run of a missing message that was sent', async () => {
  const eventId = await topology.event(order('open'));
  const intent = givenIntent('sent', { sentBy: SENT_BY_ADA, eventId });
  const { codecs, ids, log } = topology.ports;
  await log.append([
    { topic: 'carillon.intents', partition: 0, key: 'k', value: codecs.intent.encode(intent), headers: {} },
  ]);
  await settle();
  const trace = await traceDelivery(deliveryIdOf(intent, ids), topology.tracePorts);
  expect(trace?.steps.find(({ step }) => step === 'intent')?.text).toBe(SENT);
  const steps = await stepsOf(eventId);
  expect(steps.find(({ step }) => step === 'intent')).toMatchObject({ text: SENT, person: intent.person });
  expect(steps.at(-1)).toMatchObject({ step: 'delivery', id: deliveryIdOf(intent, ids), state: 'WAITING' });
});

describe('a reused event id', () => {
  const rows = (id: string): Promise<readonly EventRow[]> => topology.data.readModels.event(id);

  it('with the same body is a repeat, with another body it is flagged, also within one batch', async () => {
    const id = await topology.event(order('paid', 7), { key: 'k1' });
    await topology.event(order('paid', 7), { key: 'k1' });
    await topology.event(order('paid', 8), { key: 'k1' });
    await settle();
    expect((await rows(id)).map(({ reused }) => reused)).toEqual([false, false, true]);
    const texts = (await stepsOf(id)).filter(({ step }) => step === 'event').map(({ text }) => text.split('; ')[1]);
    expect(texts).toEqual([undefined, 'a repeat of the same event', 'its id was used before with another body']);
  });

  it('is flagged if each event has its own batch', async () => {
    const ids: string[] = [];
    for (const [total, key] of [
      [7, 'k1'],
      [5, 'k2'],
      [7, 'k1'],
      [8, 'k1'],
    ] as const) {
      ids.push(await topology.event(order('paid', total), { key }));
    }
    const events = projections(topology.ports).find(({ topic }) => topic === 'carillon.events');
    for (const record of await topology.records('carillon.events')) {
      await events?.stage.handle([record], { partition: 0, configNumber: -1, watermark: 0 });
    }
    expect((await rows(ids[0] ?? '')).map(({ reused }) => reused)).toEqual([false, false, true]);
    expect((await rows(ids[1] ?? '')).map(({ reused }) => reused)).toEqual([false]);
  });

  it('is flagged across batches, and a repeated projection changes nothing', async () => {
    const id = await topology.event(order('paid', 7), { key: 'k1' });
    await project();
    await topology.event(order('paid', 8), { key: 'k1' });
    await project();
    const before = await rows(id);
    await project();
    expect(await rows(id)).toEqual(before);
    expect(before.map(({ reused }) => reused)).toEqual([false, true]);
  });
});

describe('projections', () => {
  it('have dead letters and failing rules, and count no repeat', async () => {
    const failing = await topology.event(order('open'));
    await topology.data.log.append([
      { topic: 'carillon.events', partition: 0, key: 'k', headers: {}, value: new Uint8Array() },
    ]);
    await settle();
    await project();
    const { items } = await topology.data.readModels.deadLetters({}, 10);
    expect(items).toMatchObject([
      { stage: 'evaluate', offset: 2, reason: expect.stringContaining('unknown_kind') as string },
    ]);
    const evaluations = await topology.data.readModels.evaluations('shop', 'order-paid.big', 10);
    expect(evaluations).toMatchObject([{ failed: 1, sampleEventId: failing }]);
  });

  it('park an unreadable outcome and continue', async () => {
    const outcomes = projections(topology.ports).find(({ topic }) => topic === 'carillon.outcomes');
    const record = {
      topic: 'carillon.outcomes',
      partition: 0,
      key: 'k',
      headers: {},
      value: new Uint8Array([1]),
      offset: 0,
      time: 0,
    } as const;
    const result = await outcomes?.stage.handle([record], { partition: 0, configNumber: -1, watermark: 0 });
    expect(result?.fates).toEqual([{ kind: 'parked', reason: 'unreadable' }]);
    expect(result?.outputs).toMatchObject([{ topic: 'carillon.dead-letters' }]);
  });

  it('find a delivery by the slot of its intent', async () => {
    await topology.event(order('paid', 7));
    await settle();
    const [record] = await topology.records('carillon.intents');
    const intent = topology.ports.codecs.intent.decode(record?.value ?? new Uint8Array());
    if (!intent.ok) throw new Error('it can be read');
    expect((await topology.data.ledger.get(deliveryIdOf(intent.value, topology.ids)))?.intent).toEqual(intent.value);
  });
});
