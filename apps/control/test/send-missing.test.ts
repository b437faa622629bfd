import { openDelivery, type DeliveryState, type Intent } from '@carillon/domain/deliveries';
import type { NotificationBody } from '@carillon/domain/configuration';
import { formatPosition } from '@carillon/domain/events';
import { cancelled, newJob, type Job } from '@carillon/domain/jobs';
import { OWNER_ACTOR } from '@carillon/domain/people';
import type { MissingLookup, MissingMessage } from '@carillon/domain/runs';
import type { AuditEntry } from '@carillon/domain/audit';
import { CarillonError, type DeliveryId, type EventId, type JobId, type RunId } from '@carillon/kernel';
import { deliveryIdOf } from '@carillon/stages';
import { freshName } from '@carillon/testing';
import { givenIntent, integration, neverYield, notification, ORDER_PAID, orderShop } from '@carillon/testing/given';
import { openTopology, untilFound, type Topology } from '@carillon/testing/topology';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { ControlPorts } from '../src/index.ts';
import { senderOf } from '../src/jobs/kinds/send-missing.ts';
import { createJobRunner } from '../src/jobs/runner.ts';
import { questionItem, messageItem } from '../src/runs/send-items.ts';
import { countWaiting } from '../src/runs/stop-sending.ts';
import { moveDelivery, takeCustody } from './custody.ts';

const HOUR = 3_600_000;
const paid = ORDER_PAID.rules['paid'];
if (!paid) throw new Error('there is a rule');
const withRule = (rule: Partial<typeof paid>): NotificationBody => ({
  ...ORDER_PAID,
  id: 'ntf_paid',
  rules: { paid: { ...paid, id: 'rul_paid', ...rule } },
});

let topology: Topology;
let configuration: number;
let newestEvent: EventId;
beforeEach(async () => {
  topology = await openTopology({ partitions: 1 });
  topology.clock.standStill();
  configuration = await topology.publish(...orderShop(withRule({ when: 'event.total > 80' })));
});
afterEach(() => topology.close());

const slotOf = (uniqueId: string): DeliveryId =>
  deliveryIdOf({ slot: { workspace: 'shop', notificationId: 'ntf_paid', channel: 'email', uniqueId } }, topology.ids);

/** Appends the event of an order and returns the item of its message. */
async function order(id: string, total = 90, slot = slotOf(id)): Promise<string> {
  const body = { order_id: id, total, user_ids: ['ada'], customer: { name: 'Ada', email: `${id}@example.com` } };
  newestEvent = await topology.event(body);
  return messageItem({ slot, row: { position: await newestPosition() } } as MissingMessage);
}
async function newestPosition(): Promise<string> {
  const record = (await topology.records('carillon.events')).at(-1);
  if (!record) throw new Error('there is no event');
  return formatPosition({ ...record, logId: topology.ports.log.logId });
}

/** Stores a job that sends these items, or undoes such a job. */
async function startJob(items: readonly string[], work: { readonly [name: string]: string } = {}): Promise<Job> {
  const sending = {
    run: 'run_1',
    configuration: String(configuration),
    checksum: 'c',
    expires: '24h',
    rate: '1000',
    ...work,
  };
  const facts = {
    id: freshName('job_') as JobId,
    workspace: 'shop',
    work: { action: 'send_missing', ...sending },
    by: OWNER_ACTOR,
    byName: 'ada',
    from: { address: '127.0.0.1', userAgent: null },
    requestId: 'req_1',
    of: items.length,
  };
  const job = newJob(facts, topology.clock.now());
  await topology.ports.jobs.insert(job, items);
  return job;
}

let runners = 0;
function runner(more: Partial<ControlPorts> = {}) {
  runners += 1;
  const watch = { trouble: (where: string, error: unknown) => void troubles.push([where, error]) };
  const ports = {
    ...topology.ports,
    runs: topology.data.runs,
    people: topology.data.people,
    comparison: null,
    slice: neverYield,
    watch,
    ...more,
  };
  return createJobRunner(ports as unknown as ControlPorts, `runner-${runners}`, true);
}
const troubles: unknown[] = [];

/** Lets a runner end a job and returns how it ended. */
async function run(job: Job, with_ = runner()): Promise<Job> {
  await with_.round();
  await with_.idle();
  return jobNow(job);
}
async function jobNow({ id }: Job): Promise<Job> {
  const newest = await topology.ports.jobs.get(id);
  if (!newest) throw new Error('the job is gone');
  return newest;
}

/** Lets a runner do a job once more that died before it wrote its progress. */
async function repeat(job: Job): Promise<void> {
  const repeated = { ...(await jobNow(job)), done: 0, state: 'waiting', endedAt: null } as const;
  await topology.ports.jobs.replace({ ...repeated, version: repeated.version + 1 });
  await run(job);
}

/** Targets and outcomes of the audit entries of an action. */
async function audited(action: AuditEntry['what']) {
  return (await topology.records('carillon.audit')).flatMap(({ value }) => {
    const read = topology.ports.codecs.audit.decode(value);
    if (!read.ok || read.value.kind !== 'entry' || read.value.what !== action) return [];
    return [[read.value.target, read.value.outcome]];
  });
}

async function intents(): Promise<readonly Intent[]> {
  return (await topology.records('carillon.intents')).flatMap(({ value }) => {
    const read = topology.ports.codecs.intent.decode(value);
    return read.ok ? [read.value] : [];
  });
}
const slots = async () => (await intents()).map((intent) => deliveryIdOf(intent, topology.ids));

/** Puts a delivery of an intent into a state, as if it had come to it by itself. */
async function hold(slot: DeliveryId, intent: Intent, state: DeliveryState): Promise<void> {
  if (await moveDelivery(topology, slot, state)) return;
  const moment = { now: topology.clock.now(), derive: topology.ids.derive };
  await topology.ports.ledger.insert([
    { ...openDelivery(intent, 'carillon.intents/0@0', slot, moment), state, nextAt: null },
  ]);
}

describe('A job that sends missing messages', () => {
  it('appends intents with the slots of the list, due from its creation on, with its author', async () => {
    const items = [await order('a'), await order('b')];
    topology.clock.pass(3 * HOUR);
    const job = await startJob(items);
    topology.clock.pass(HOUR);
    expect(await run(job)).toMatchObject({ state: 'done', done: 2, failed: 0 });
    expect(await slots()).toEqual([slotOf('a'), slotOf('b')]);
    const { createdAt: sendAt } = job;
    const sentBy = { person: 'ada', job: job.id, run: 'run_1' };
    for (const intent of await intents()) {
      expect(intent).toMatchObject({ sentBy, sendAt, notAfter: sendAt + 24 * HOUR, configNumber: configuration });
    }
  });

  it('evaluates by the configuration of its creation, whatever was published since', async () => {
    const items = [await order('a')];
    const job = await startJob(items);
    await topology.publish(notification('order-paid', withRule({ when: 'false' })));
    expect(await run(job)).toMatchObject({ state: 'done', done: 1 });
    expect(await slots()).toEqual([slotOf('a')]);
  });

  it('makes the same bytes when two workers send an item', async () => {
    const item = await order('a');
    const job = await startJob([item]);
    for (let workers = 0; workers < 2; workers += 1) {
      const sender = await senderOf(job, { ...topology.ports, slice: neverYield });
      await sender.send(item);
      topology.clock.pass(HOUR);
    }
    const [first, second] = await topology.records('carillon.intents');
    expect(second?.value).toEqual(first?.value);
  });

  it('audits each message under its delivery', async () => {
    await run(await startJob([await order('a'), await order('b')]));
    expect(await audited('message.send')).toEqual([
      [slotOf('a'), 'done'],
      [slotOf('b'), 'done'],
    ]);
  });

  it('fails an item whose rule does not fire, or whose event is gone', async () => {
    const [small, gone] = [await order('a', 10), await order('b')];
    const job = await run(await startJob([small, gone.replace(/\d+$/, '99')]));
    expect(job).toMatchObject({ state: 'failed', failed: 2 });
    expect(job.failures.map(({ item, code, detail }) => [item, code, detail])).toEqual([
      [slotOf('a'), 'wrong_state', expect.stringContaining('its rule does not fire')],
      [slotOf('b'), 'wrong_state', expect.stringContaining('no longer on the log')],
    ]);
    expect(await intents()).toEqual([]);
  });

  it.each(['SENT', 'WAITING', 'IN_DOUBT', 'CANCELLED'] as const)(
    'fails an item whose delivery is %s meanwhile',
    async (state) => {
      const job = await startJob([await order('a')]);
      await hold(slotOf('a'), givenIntent('live', { uniqueId: 'a' }), state);
      expect((await run(job)).failures).toMatchObject([{ item: slotOf('a'), code: 'conflict' }]);
      expect(await intents()).toEqual([]);
    },
  );

  it('takes the slot of a suppressed message over, again and again', async () => {
    const item = await order('a');
    for (let jobs = 0; jobs < 2; jobs += 1) {
      await hold(slotOf('a'), givenIntent('capped', { uniqueId: 'a' }), 'SUPPRESSED');
      expect(await run(await startJob([item]))).toMatchObject({ state: 'done', done: 1 });
      await takeCustody(topology);
      expect(await topology.ports.ledger.get(slotOf('a'))).toMatchObject({ state: 'WAITING' });
    }
  });

  it('fails an item whose person was notified about the event under another unique_id', async () => {
    const item = await order('a');
    const person = 'a@example.com';
    const live = givenIntent('live', { uniqueId: 'other', person, eventId: newestEvent });
    await hold('dlv_other' as DeliveryId, { ...live, slot: { ...live.slot, notificationId: 'ntf_paid' } }, 'SENT');
    expect((await run(await startJob([item]))).failures).toMatchObject([
      { code: 'conflict', detail: expect.stringContaining('another unique_id: dlv_other is SENT') as unknown },
    ]);
    expect(await intents()).toEqual([]);
  });

  it('waits for the custody of intents on the log before it looks for messages under another unique_id', async () => {
    const item = await order('a');
    await topology.evaluates();
    await untilFound('the live rule has fired', async () => ((await intents()).length > 0 ? true : undefined));
    const recipients = { ...paid.recipients, unique_id: 'event.order_id + "-again"' };
    configuration = await topology.publish(
      notification('order-paid', withRule({ when: 'event.total > 80', recipients })),
    );
    const again = slotOf('a-again');
    const job = await startJob([item.replace(slotOf('a'), again)]);
    const { checkpoints } = topology.ports;
    let polls = 0;
    const load: typeof checkpoints.load = async (...place) => {
      polls += 1;
      if (polls === 2) await takeCustody(topology);
      return checkpoints.load(...place);
    };
    expect((await run(job, runner({ checkpoints: { ...checkpoints, load } }))).failures).toMatchObject([
      { code: 'conflict', detail: expect.stringContaining(`${slotOf('a')} is WAITING`) as unknown },
    ]);
    expect(await slots()).toEqual([slotOf('a')]);
  });

  it('appends the triggers of an event that needs a lookup', async () => {
    const recipients = { from: 'lookup', integration: 'crm', user_ids: 'event.user_ids' } as const;
    configuration = await topology.publish(
      integration('crm', { kind: 'lookup', url: 'https://crm.example.com', authorization: { key: { secret: 'K' } } }),
      notification('order-paid', withRule({ when: 'true', recipients })),
    );
    await order('a');
    const lookup = { position: await newestPosition(), rule: 'order-paid.paid' } as MissingLookup;
    const job = await startJob([questionItem(lookup)]);
    expect(await run(job)).toMatchObject({ state: 'done', done: 1 });
    const triggers = (await topology.records('carillon.triggers')).map(({ value }) =>
      topology.ports.codecs.trigger.decode(value),
    );
    expect(triggers).toMatchObject([
      { ok: true, value: { userIds: ['ada'], sentBy: { job: job.id }, notAfter: job.createdAt + 24 * HOUR } },
    ]);
  });
});

describe('A cancelled job that sends', () => {
  it('ends appending within 2 s, and counts each message that it appended', async () => {
    topology.clock.goOn();
    const items = [];
    for (let at = 0; at < 60; at += 1) items.push(await order(`o${at}`));
    const job = await startJob(items, { rate: '10' });
    const working = runner();
    await working.round();
    await untilFound('it sends', async () => ((await intents()).length > 2 ? true : undefined));
    await cancelJob(job);
    const cancelledAt = Date.now();
    await working.idle();
    expect(Date.now() - cancelledAt).toBeLessThan(2_000);
    const { state, done } = await jobNow(job);
    expect([state, done]).toEqual(['cancelled', (await intents()).length]);
    expect(done).toBeLessThan(40);
  });
});

describe('The undo of a job that sends', () => {
  const undo = async (job: Job, items: readonly string[]) => run(await startJob(items, { undoes: job.id }));
  const stateOf = async (id: string) => (await topology.ports.ledger.get(slotOf(id)))?.state;

  it('cancels what still waits and leaves what was sent, also by the live rule', async () => {
    const items = [await order('a'), await order('b'), await order('c')];
    const job = await run(await startJob(items.slice(0, 2)));
    await takeCustody(topology);
    await hold(slotOf('a'), givenIntent('a'), 'SENT');
    await hold(slotOf('c'), givenIntent('live', { uniqueId: 'c' }), 'WAITING');
    const undone = await undo(job, items);
    expect(undone).toMatchObject({ state: 'done', done: 1, failed: 2 });
    expect(undone.failures.map(({ item, code, detail }) => [item, code, detail])).toEqual([
      [slotOf('a'), 'wrong_state', expect.stringContaining('is SENT')],
      [slotOf('c'), 'not_found', expect.stringContaining(`${job.id} has no message here`)],
    ]);
    expect(await Promise.all(['a', 'b', 'c'].map(stateOf))).toEqual(['SENT', 'CANCELLED', 'WAITING']);
    expect((await audited('message.cancel')).filter(([, outcome]) => outcome === 'done')).toEqual([
      [slotOf('b'), 'done'],
    ]);
  });

  it('counts a repeated item as before', async () => {
    const items = [await order('a')];
    const job = await run(await startJob(items));
    await takeCustody(topology);
    const undoing = await startJob(items, { undoes: job.id });
    await run(undoing);
    await repeat(undoing);
    expect(await jobNow(undoing)).toMatchObject({ state: 'done', done: 1, failed: 0 });
  });

  it('waits until delivery has read all intents of the job', async () => {
    const items = [await order('a')];
    const job = await run(await startJob(items));
    const undone = undo(job, items);
    await takeCustody(topology);
    expect(await undone).toMatchObject({ state: 'done', done: 1 });
    expect(await stateOf('a')).toBe('CANCELLED');
  });

  it('cancels what came of a question, and counts questions without an answer', async () => {
    const recipients = { from: 'lookup', integration: 'crm', user_ids: 'event.user_ids' } as const;
    configuration = await topology.publish(
      integration('crm', { kind: 'lookup', url: 'https://crm.example.com', authorization: { key: { secret: 'K' } } }),
      notification('order-paid', withRule({ when: 'true', recipients })),
    );
    await order('a');
    const items = [questionItem({ position: await newestPosition(), rule: 'order-paid.paid' } as MissingLookup)];
    const job = await run(await startJob(items));
    const ports = { ...topology.ports, slice: neverYield };
    expect(await countWaiting(job, items, ports)).toBe(1);
    const [record] = await topology.records('carillon.triggers');
    const trigger = record && topology.ports.codecs.trigger.decode(record.value);
    if (!trigger?.ok) throw new Error('there is no trigger');
    await ports.claims.claim([{ triggerId: trigger.value.id, position: 'carillon.lookups/0@0', at: 0 }]);
    expect(await countWaiting(job, items, ports)).toBe(0);
    const facts = {
      uniqueId: 'a',
      eventId: newestEvent,
      sentBy: { person: 'ada', job: job.id, run: 'run_1' as RunId },
    };
    await hold(slotOf('a'), givenIntent('answered', facts), 'WAITING');
    await hold(slotOf('b'), givenIntent('live', { uniqueId: 'b', eventId: newestEvent }), 'WAITING');
    expect(await undo(job, items)).toMatchObject({ state: 'done', done: 1 });
    expect([await stateOf('a'), await stateOf('b')]).toEqual(['CANCELLED', 'WAITING']);
  });

  it('leaves no slot to a later job or to the live rule', async () => {
    const items = [await order('a')];
    const job = await run(await startJob(items));
    await takeCustody(topology);
    await undo(job, items);
    expect((await run(await startJob(items))).failures).toMatchObject([{ code: 'conflict' }]);
    await topology.evaluates();
    await untilFound('the live rule has fired', async () => ((await intents()).length > 1 ? true : undefined));
    await takeCustody(topology);
    expect(await stateOf('a')).toBe('CANCELLED');
  });
});

/** Wishes that a job ends, as a person does. */
async function cancelJob(job: Job): Promise<void> {
  for (;;) {
    const next = cancelled(await jobNow(job), OWNER_ACTOR, topology.clock.now());
    if (!next || (await topology.ports.jobs.replace(next)) === 'done') return;
  }
}

describe('A job whose runner dies at a write', () => {
  /** Ports of a process that dies at its nth write, before it happened or after. */
  function mortalPorts(dies: { readonly at: number; readonly reached: boolean }) {
    let writes = 0;
    const mortal =
      <Given extends readonly unknown[], Result>(write: (...given: Given) => Promise<Result>) =>
      async (...given: Given): Promise<Result> => {
        writes += 1;
        if (writes < dies.at) return write(...given);
        if (writes === dies.at && dies.reached) await write(...given);
        throw new CarillonError('store_unavailable', 'the process is dead');
      };
    const { log, jobs } = topology.ports;
    const append = mortal((...given: Parameters<typeof log.append>) => log.append(...given));
    const replace = mortal((...given: Parameters<typeof jobs.replace>) => jobs.replace(...given));
    const ports = { log: { ...log, append }, jobs: { ...jobs, replace } };
    return { ports, writes: () => writes };
  }

  it.each([false, true])('sends each message once; the write was made: %s', async (reached) => {
    for (let at = 1, isOver = false; !isOver; at += 1) {
      const ids = ['a', 'b', 'c'].map((name) => `${name}${at}`);
      const items = [];
      for (const id of ids) items.push(await order(id));
      const job = await startJob(items);
      const { ports, writes } = mortalPorts({ at, reached });
      await run(job, runner(ports));
      isOver = writes() < at;
      expect(await run(job)).toMatchObject({ state: 'done', done: 3, failed: 0 });
      await takeCustody(topology);
      for (const id of ids) {
        expect(await topology.ports.ledger.get(slotOf(id))).toMatchObject({ state: 'WAITING', duplicates: 0 });
      }
    }
  });
});
