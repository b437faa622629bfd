import type { MissingMessage } from '@carillon/domain/runs';
import { tickRecord } from '@carillon/stages';
import { notification, stream, template } from '@carillon/testing/given';
import { evaluateAll } from '@carillon/testing/topology';
import { describe, expect, it } from 'vitest';
import { messageItem, readSendItem } from '../src/runs/send-items.ts';
import { takeCustody } from './custody.ts';
import {
  hold,
  HOUR,
  intents,
  leaveUnevaluated,
  newestPosition,
  paid,
  publish,
  run,
  slotOf,
  startJob,
  topology,
  useShop,
  withRule,
} from './sending-jobs.ts';

useShop();

const RULES = {
  paid: {
    ...paid,
    id: 'rul_paid',
    stream: 'baskets',
    when: 'event.status == "placed"',
    after: '1h',
    unless: 'event.status == "paid"',
  },
  often: {
    ...paid,
    id: 'rul_often',
    stream: 'baskets',
    totals: { seen: { count: 'true', within: '1h' as const } },
    when: 'totals.seen >= 3',
    recipients: { ...paid.recipients, unique_id: 'event_id', variables: { seen: 'string(totals.seen)' } },
  },
};

async function openBaskets(): Promise<void> {
  leaveUnevaluated();
  const { rules: _, ...body } = withRule({});
  await publish(
    stream('baskets', { key: 'event.order_id', security: { api_keys: ['main'] } }),
    template('order-paid', { email: { subject: 'Order {{order_id}}', text: '{{seen}}' } }),
    notification('order-paid', { ...body, rules: RULES }),
  );
}
let newest = '';
const happens = async (id: string, status: string) => {
  newest = await topology.event(
    { order_id: id, status, total: 1, user_ids: [], customer: { name: 'Ada', email: `${id}@example.com` } },
    { stream: 'shop/baskets' },
  );
};

/** Returns the item of a message that a comparison found for the newest event. */
async function itemOf(id: string, facts: Partial<MissingMessage['row']>): Promise<string> {
  const row = { rule: 'order-paid.paid', at: topology.clock.now() + HOUR, ...facts };
  return messageItem({ slot: slotOf(id), row: { ...row, position: await newestPosition() } } as MissingMessage);
}

const oftenItem = async (totals: MissingMessage['row']['totals']): Promise<string> => {
  const row = { rule: 'order-paid.often', at: topology.clock.now(), position: await newestPosition(), totals };
  return messageItem({ slot: slotOf(`${newest}:a@example.com`), row } as MissingMessage);
};

/** Lets an hour pass on the log, so that the engine ends the waits. */
async function passDeadlines(): Promise<void> {
  topology.clock.pass(HOUR + 1);
  await topology.ports.log.append([tickRecord(0)]);
  await evaluateAll(topology);
}

describe('A job that sends messages of rules with state', () => {
  it('sends the message of a deadline, with its author', async () => {
    await openBaskets();
    await happens('a', 'placed');
    const deadline = topology.clock.now() + HOUR;
    const item = await itemOf('a', {});
    await evaluateAll(topology);
    const job = await startJob([item]);
    expect(await run(job)).toMatchObject({ state: 'done', done: 1, failed: 0 });
    const sentBy = { person: 'ada', job: job.id, run: 'run_1' };
    expect(await intents()).toMatchObject([
      { deadline, causedAt: deadline, to: 'a@example.com', sentBy, slot: { uniqueId: 'a' } },
    ]);
  });

  it('sends the message of a count, with the totals of its firing', async () => {
    await openBaskets();
    await happens('a', 'new');
    const totals = { seen: 7 };
    const item = await oftenItem(totals);
    expect(readSendItem(item)).toMatchObject({ totals });
    await evaluateAll(topology);
    expect(await run(await startJob([item]))).toMatchObject({ state: 'done', done: 1 });
    const [intent] = await intents();
    expect(intent?.variables).toMatchObject({ seen: '7' });
  });

  it('fails a message of totals that its item does not name', async () => {
    await openBaskets();
    await happens('a', 'new');
    const item = await oftenItem(undefined);
    await evaluateAll(topology);
    expect((await run(await startJob([item]))).failures).toMatchObject([{ code: 'wrong_state' }]);
    expect(await intents()).toEqual([]);
  });

  it('sends both messages of an event that two rules give to one person', async () => {
    await openBaskets();
    await happens('a', 'placed');
    const [often, waits] = [await oftenItem({ seen: 3 }), await itemOf('a', {})];
    await evaluateAll(topology);
    for (const item of [often, waits]) {
      expect((await run(await startJob([item]))).failures).toEqual([]);
      await takeCustody(topology);
    }
    expect(await intents()).toHaveLength(2);
  });

  it('notifies once if the live wait is open, and ends afterwards', async () => {
    await openBaskets();
    await happens('a', 'placed');
    const item = await itemOf('a', {});
    await evaluateAll(topology);
    const job = await startJob([item]);
    await run(job);
    await passDeadlines();
    await takeCustody(topology);
    expect(await intents()).toHaveLength(2);
    const { items } = await topology.ports.ledger.list({ workspace: 'shop' }, 10);
    expect(items.map(({ id, intent }) => [id, intent.sentBy?.job])).toEqual([[slotOf('a'), job.id]]);
  });

  it('fails a message whose live wait ended meanwhile', async () => {
    await openBaskets();
    await happens('a', 'placed');
    const item = await itemOf('a', {});
    await passDeadlines();
    await takeCustody(topology);
    const [live] = await intents();
    if (!live) throw new Error('the live rule has not fired');
    await hold(slotOf('a'), live, 'SENT');
    expect((await run(await startJob([item]))).failures).toMatchObject([
      { code: 'conflict', detail: expect.stringContaining(`${slotOf('a')} is SENT`) as unknown },
    ]);
    expect(await intents()).toHaveLength(1);
  });

  it('sends a message whose live wait was cancelled meanwhile once', async () => {
    await openBaskets();
    await happens('a', 'placed');
    const item = await itemOf('a', {});
    await happens('a', 'paid');
    await passDeadlines();
    expect(await intents()).toEqual([]);
    expect(await run(await startJob([item, item]))).toMatchObject({ state: 'done' });
    await takeCustody(topology);
    expect((await topology.ports.ledger.list({ workspace: 'shop' }, 10)).items).toHaveLength(1);
  });
});
