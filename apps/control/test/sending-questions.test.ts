import type { MissingLookup } from '@carillon/domain/runs';
import { newAsking, triggerIdOf } from '@carillon/domain/lookups';
import type { DeliveryId, JobId, TriggerId } from '@carillon/kernel';
import { newTask } from '@carillon/stages';
import { givenIntent, givenLookup, givenTrigger, integration, notification } from '@carillon/testing/given';
import { describe, expect, it } from 'vitest';
import { redriveLease } from '../src/runs/redrive-lease.ts';
import { questionItem } from '../src/runs/send-items.ts';
import { takeCustody } from './custody.ts';
import {
  hold,
  intents,
  leaveUnevaluated,
  newestEvent,
  newestPosition,
  order,
  paid,
  publish,
  run,
  runner,
  slotOf,
  slots,
  startJob,
  topology,
  useShop,
  withRule,
} from './sending-jobs.ts';

useShop();

const CRM = integration('crm', {
  kind: 'lookup',
  url: 'https://crm.example.com',
  authorization: { key: { secret: 'K' } },
});
const LOOKUP = { from: 'lookup', integration: 'crm', user_ids: 'event.user_ids', unique_id: 'event.order_id' } as const;
const AGAIN = { ...paid.recipients, unique_id: 'event.order_id + "-again"' };

const asking = () => publish(CRM, notification('order-paid', withRule({ when: 'true', recipients: LOOKUP })));
const notifyAgain = () =>
  publish(notification('order-paid', withRule({ when: 'event.total > 80', recipients: AGAIN })));

const idOf = (askedBy: JobId | null = null): TriggerId =>
  triggerIdOf(topology.ids.derive, 'rul_paid', newestEvent, { part: 0, runId: askedBy });

/** Stores the question of the rule about the newest event, which its partner has not answered. */
async function ask(askedBy: JobId | null = null): Promise<void> {
  const trigger = givenTrigger({ id: idOf(askedBy), ruleId: 'rul_paid', eventId: newestEvent });
  const origin = { partition: 0, offset: 0, key: 'k' };
  await topology.ports.tasks.insert([newTask(trigger, newAsking(trigger, origin), topology.clock.now())]);
}

/** Ends the question without an answer. */
async function giveUp(): Promise<void> {
  const { tasks } = topology.ports;
  const task = await tasks.get(idOf());
  if (!task) throw new Error('nobody asked');
  const ended = { kind: 'parked', reason: 'partner_refused', deadLetterId: null };
  const data = JSON.stringify({ ...(JSON.parse(task.data) as object), trigger: null, ended });
  await tasks.replace(task.version, { ...task, done: true, data, version: task.version + 1 });
}

/** Records the answer of the partner: Ada, at this address. */
async function answer(askedBy: JobId | null, email: string): Promise<void> {
  const { claims, codecs, log } = topology.ports;
  const trigger = givenTrigger({ id: idOf(askedBy), ruleId: 'rul_paid', eventId: newestEvent });
  const to = { email, phone: null, token: null };
  const value = codecs.lookup.encode(givenLookup({ trigger, items: [{ userId: 'ada', to, variables: {} }] }));
  const { end } = await log.bounds('carillon.lookups', 0);
  await log.append([{ topic: 'carillon.lookups', partition: 0, key: 'k', value, headers: {} }]);
  const position = `carillon.lookups/0@${end}`;
  await claims.claim([{ triggerId: trigger.id, position, at: topology.clock.now() }]);
}

describe('A job that sends after a change of unique_id', () => {
  it('waits until the engine has evaluated all events on the log', async () => {
    leaveUnevaluated();
    const item = await order('a');
    await notifyAgain();
    const job = await startJob([item.replace(slotOf('a'), slotOf('a-again'))]);
    const { checkpoints } = topology.ports;
    let polls = 0;
    const load: typeof checkpoints.load = async (group, topic, partition) => {
      polls += 1;
      if (polls === 3) await topology.evaluates();
      if (group === 'engine' && topic !== 'carillon.events') return checkpoints.load('engine', 'carillon.events', 0);
      if (group === 'delivery') await takeCustody(topology);
      return checkpoints.load(group, topic, partition);
    };
    expect((await run(job, runner({ checkpoints: { ...checkpoints, load } }))).failures).toMatchObject([
      { code: 'conflict', detail: expect.stringContaining(`${slotOf('a')} is WAITING`) as unknown },
    ]);
    expect(await slots()).toEqual([slotOf('a')]);
  });

  it('fails an item while a partner may still name its person, and sends it once the lookup is given up', async () => {
    await asking();
    const item = await order('a');
    await ask();
    await notifyAgain();
    const items = [item.replace(slotOf('a'), slotOf('a-again'))];
    expect((await run(await startJob(items))).failures).toMatchObject([
      { code: 'conflict', detail: expect.stringContaining('whom the live rule asked') as unknown },
    ]);
    expect(await intents()).toEqual([]);
    await giveUp();
    expect(await run(await startJob(items))).toMatchObject({ state: 'done', done: 1 });
  });

  it('fails an item while a partner asked under a former name of the notification may still name its person', async () => {
    await asking();
    const item = await order('a');
    await ask();
    const renamed = withRule({ id: 'rul_renamed', when: 'event.total > 80', recipients: AGAIN });
    await publish(notification('order-paid', null), notification('paid-order', renamed));
    expect((await run(await startJob([item.replace(slotOf('a'), slotOf('a-again'))]))).failures).toMatchObject([
      { code: 'conflict', detail: expect.stringContaining('whom the live rule asked') as unknown },
    ]);
    expect(await intents()).toEqual([]);
  });

  it('waits until no dead letter of its workspace is being redriven', async () => {
    const item = await order('a');
    const { leases, clock } = topology.ports;
    await leases.acquire(redriveLease('shop'), 'a redrive', clock.now(), clock.now() + 60_000);
    let polls = 0;
    const acquire: typeof leases.acquire = async (...asked) => {
      polls += 1;
      expect(await intents()).toEqual([]);
      if (polls === 3) await leases.release(redriveLease('shop'), 'a redrive');
      return leases.acquire(...asked);
    };
    const job = await run(await startJob([item]), runner({ leases: { ...leases, acquire } }));
    expect([job.state, job.done, polls]).toEqual(['done', 1, 3]);
  });

  it('fails an item while a partner asked by another job may still name its person', async () => {
    await asking();
    const item = await order('a');
    const question = questionItem({ position: await newestPosition(), rule: 'order-paid.paid' } as MissingLookup);
    const other = await run(await startJob([question]));
    await ask(other.id);
    await notifyAgain();
    expect((await run(await startJob([item.replace(slotOf('a'), slotOf('a-again'))]))).failures).toMatchObject([
      { code: 'conflict', detail: expect.stringContaining(`whom ${other.id} asked`) as unknown },
    ]);
    expect(await intents()).toEqual([]);
  });

  it.each([
    { confirmed: 'none', isSent: false },
    { confirmed: 'none,stopped', isSent: true },
  ])('with a message unsent under the old unique_id, and $confirmed confirmed', async ({ confirmed, isSent }) => {
    const item = await order('a');
    const live = givenIntent('live', { uniqueId: 'old', person: 'a@example.com', eventId: newestEvent });
    await hold('dlv_old' as DeliveryId, { ...live, slot: { ...live.slot, notificationId: 'ntf_paid' } }, 'SUPPRESSED');
    const { done, failures } = await run(await startJob([item], { slot: confirmed }));
    expect([
      done,
      failures.map(({ code, detail }) => [code, detail.includes('dlv_old is SUPPRESSED. To send it')]),
    ]).toEqual(isSent ? [1, []] : [0, [['conflict', true]]]);
  });
});

describe('A job that sends by the answers of partners', () => {
  it('uses an answer that another job obtained, and the first of several answers', async () => {
    await asking();
    const item = await order('a');
    const question = questionItem({ position: await newestPosition(), rule: 'order-paid.paid' } as MissingLookup);
    const other = await run(await startJob([question]));
    await answer(other.id, 'first@example.com');
    topology.clock.pass(1_000);
    await answer(null, 'second@example.com');
    expect(await run(await startJob([item]))).toMatchObject({ state: 'done', done: 1, failed: 0 });
    expect(await intents()).toMatchObject([{ to: 'first@example.com' }]);
  });

  it('does not ask a partner whose answer to an earlier job is recorded', async () => {
    await asking();
    await order('a');
    const question = questionItem({ position: await newestPosition(), rule: 'order-paid.paid' } as MissingLookup);
    const other = await run(await startJob([question]));
    await ask(other.id);
    expect((await run(await startJob([question]))).failures).toMatchObject([
      { code: 'conflict', detail: expect.stringContaining(`whom ${other.id} asked`) as unknown },
    ]);
  });
});
