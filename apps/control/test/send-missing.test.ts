import { openDelivery, operatorResend } from '@carillon/domain/deliveries';
import { cancelled, type Job } from '@carillon/domain/jobs';
import { OWNER_ACTOR } from '@carillon/domain/people';
import type { MissingLookup } from '@carillon/domain/runs';
import type { DeliveryId, RunId } from '@carillon/kernel';
import { givenIntent, integration, neverYield, notification } from '@carillon/testing/given';
import { untilFound } from '@carillon/testing/topology';
import { describe, expect, it } from 'vitest';
import { senderOf } from '../src/jobs/kinds/send-missing.ts';
import { questionItem } from '../src/runs/send-items.ts';
import { countWaiting } from '../src/runs/stop-sending.ts';
import { moveDelivery, takeCustody } from './custody.ts';
import {
  audited,
  configuration,
  hold,
  HOUR,
  intents,
  jobNow,
  newestEvent,
  newestPosition,
  order,
  publish,
  repeat,
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

describe('A job that sends missing messages', () => {
  it('appends intents with the slots of the list, due at the creation of the job, under its author', async () => {
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

  it('evaluates by the configuration at its creation, ignoring later changes', async () => {
    const items = [await order('a')];
    const job = await startJob(items);
    await topology.publish(notification('order-paid', withRule({ when: 'false' })));
    expect(await run(job)).toMatchObject({ state: 'done', done: 1 });
    expect(await slots()).toEqual([slotOf('a')]);
  });

  it('produces identical records when two workers send an item', async () => {
    const item = await order('a');
    const job = await startJob([item]);
    for (let workers = 0; workers < 2; workers += 1) {
      const sender = await senderOf(job, async () => undefined, { ...topology.ports, slice: neverYield });
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

  it('fails an item whose rule does not fire, or whose event was deleted', async () => {
    const [small, gone] = [await order('a', 10), await order('b')];
    const job = await run(await startJob([small, gone.replace(/@\d+/, '@99')]));
    expect(job).toMatchObject({ state: 'failed', failed: 2 });
    expect(job.failures.map(({ item, code, detail }) => [item, code, detail])).toEqual([
      [slotOf('a'), 'wrong_state', expect.stringContaining('its rule does not fire')],
      [slotOf('b'), 'wrong_state', expect.stringContaining('no longer on the log')],
    ]);
    expect(await intents()).toEqual([]);
  });

  it('fails messages and lookups that are no longer useful', async () => {
    const message = await order('a');
    const job = await startJob([message], { expires: '1s' });
    topology.clock.pass(1_000);
    expect((await run(job)).failures).toMatchObject([
      { code: 'wrong_state', detail: expect.stringContaining('longer expires or a higher rate') as unknown },
    ]);
    const recipients = { from: 'lookup', integration: 'crm', user_ids: 'event.user_ids' } as const;
    await publish(
      integration('crm', { kind: 'lookup', url: 'https://crm.example.com', authorization: { key: { secret: 'K' } } }),
      notification('order-paid', withRule({ when: 'true', recipients })),
    );
    const question = questionItem({ position: await newestPosition(), rule: 'order-paid.paid' } as MissingLookup);
    const asking = await startJob([question], { expires: '1s' });
    topology.clock.pass(1_000);
    expect((await run(asking)).failures).toMatchObject([{ code: 'wrong_state' }]);
    expect([await intents(), await topology.records('carillon.triggers')]).toEqual([[], []]);
  });

  it('fails an item whose rule asks a partner if no recorded answer is left', async () => {
    const item = await order('a');
    const recipients = { from: 'lookup', integration: 'crm', user_ids: 'event.user_ids' } as const;
    await publish(
      integration('crm', { kind: 'lookup', url: 'https://crm.example.com', authorization: { key: { secret: 'K' } } }),
      notification('order-paid', withRule({ when: 'true', recipients })),
    );
    const { failures } = await run(await startJob([item]));
    expect(failures.map(({ detail }) => detail)).toEqual([
      expect.stringMatching(/no recorded answer of its partner is left\. Compare again/),
    ]);
  });

  it('names the fix for a lookup that may no longer be asked', async () => {
    await order('a');
    const lookup = { position: await newestPosition(), rule: 'order-paid.paid' } as MissingLookup;
    const { failures } = await run(await startJob([questionItem(lookup)]));
    expect(failures.map(({ detail }) => detail)).toEqual([expect.stringContaining('Compare again')]);
  });

  it.each(['SENT', 'WAITING', 'IN_DOUBT', 'CANCELLED'] as const)(
    'fails an item whose delivery became %s meanwhile',
    async (state) => {
      const job = await startJob([await order('a')]);
      await hold(slotOf('a'), givenIntent('live', { uniqueId: 'a' }), state);
      expect((await run(job)).failures).toMatchObject([
        {
          item: slotOf('a'),
          code: 'conflict',
          detail: expect.stringContaining(`is ${state}. It is no longer`) as unknown,
        },
      ]);
      expect(await intents()).toEqual([]);
    },
  );

  it('takes over the slot of a suppressed message, repeatedly', async () => {
    const item = await order('a');
    for (let jobs = 0; jobs < 2; jobs += 1) {
      await hold(slotOf('a'), givenIntent('capped', { uniqueId: 'a' }), 'SUPPRESSED');
      const job = await startJob([item], { slot: 'none,stopped' });
      expect(await run(job)).toMatchObject({ state: 'done', done: 1 });
      await takeCustody(topology);
      expect(await topology.ports.ledger.get(slotOf('a'))).toMatchObject({ state: 'WAITING' });
    }
  });

  it('leaves the slot of a suppressed message if only free slots were confirmed', async () => {
    const item = await order('a');
    await hold(slotOf('a'), givenIntent('capped', { uniqueId: 'a' }), 'SUPPRESSED');
    expect((await run(await startJob([item]))).failures).toMatchObject([
      { code: 'conflict', detail: expect.stringContaining('is SUPPRESSED. To send it, look again') as unknown },
    ]);
    expect(await intents()).toEqual([]);
  });

  it('appends the triggers of an event that needs a lookup', async () => {
    const recipients = { from: 'lookup', integration: 'crm', user_ids: 'event.user_ids' } as const;
    await publish(
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

describe('A job that sends slowly', () => {
  it('reports progress about once a second', async () => {
    topology.clock.goOn();
    const items = [];
    for (let at = 0; at < 30; at += 1) items.push(await order(`o${at}`));
    const job = await startJob(items, { rate: '10' });
    const working = runner();
    await working.round();
    const done = await untilFound('progress is reported', async () => (await jobNow(job)).done || undefined);
    expect(done).toBeLessThan(items.length);
    await cancelJob(job);
    await working.idle();
  });
});

describe('A cancelled job that sends', () => {
  it('stops appending within 2 s, and counts each appended message', async () => {
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

  it('cancels waiting messages of the job, but no sent ones and none of the live rule', async () => {
    const items = [await order('a'), await order('b'), await order('c')];
    const job = await run(await startJob(items.slice(0, 2)));
    await takeCustody(topology);
    await hold(slotOf('a'), givenIntent('a'), 'SENT');
    await hold(slotOf('c'), givenIntent('live', { uniqueId: 'c' }), 'WAITING');
    const undone = await undo(job, items);
    expect(undone).toMatchObject({ state: 'done', done: 1, failed: 2 });
    expect(undone.failures.map(({ item, code, detail }) => [item, code, detail])).toEqual([
      [slotOf('a'), 'wrong_state', expect.stringContaining('is SENT')],
      [slotOf('c'), 'not_found', expect.stringContaining(`${job.id} sent no message for this item`)],
    ]);
    expect(await Promise.all(['a', 'b', 'c'].map(stateOf))).toEqual(['SENT', 'CANCELLED', 'WAITING']);
    expect((await audited('message.cancel')).filter(([, outcome]) => outcome === 'done')).toEqual([
      [slotOf('b'), 'done'],
    ]);
  });

  describe('of messages that went into a digest', () => {
    /** Puts deliveries of these orders into a digest that waits. */
    async function digest(...orders: readonly string[]): Promise<void> {
      const { ledger, ids } = topology.ports;
      const digestedIn = 'dlv_digest' as DeliveryId;
      const items = [];
      for (const id of orders) {
        const known = await ledger.get(slotOf(id));
        if (!known) throw new Error('there is no delivery');
        const digested = { state: 'DIGESTED', nextAt: null, digestedIn } as const;
        await ledger.replace({ ...known, ...digested, version: known.version + 1 });
        items.push({ deliveryId: known.id, intentId: known.intent.id, ruleId: known.intent.ruleId, causedAt: 0 });
      }
      const intent = { ...givenIntent('digest', { uniqueId: 'digest' }), digest: { head: 'head', n: 1, items } };
      const moment = { now: topology.clock.now(), derive: ids.derive };
      await ledger.insert([openDelivery(intent, 'carillon.intents/0@0', digestedIn, moment)]);
    }
    const digestNow = async () => (await topology.ports.ledger.get('dlv_digest' as DeliveryId))?.state;

    it('cancels a waiting digest that holds messages of the job only', async () => {
      const items = [await order('a'), await order('b')];
      const job = await run(await startJob(items));
      await takeCustody(topology);
      await digest('a', 'b');
      expect(await undo(job, items)).toMatchObject({ done: 2, failed: 0 });
      expect(await digestNow()).toBe('CANCELLED');
    });

    it('leaves a digest that holds other messages, and says how many', async () => {
      const items = [await order('a')];
      const job = await run(await startJob(items));
      await takeCustody(topology);
      await hold(slotOf('b'), givenIntent('live', { uniqueId: 'b' }), 'WAITING');
      await digest('a', 'b');
      const undone = await undo(job, items);
      expect([undone.done, undone.failures.map(({ detail }) => detail)]).toEqual([
        0,
        [
          expect.stringContaining(
            `digest dlv_digest, which was not cancelled, because it holds 1 message that ${job.id}`,
          ),
        ],
      ]);
      expect(await digestNow()).toBe('WAITING');
    });

    it('names a digest that was already sent', async () => {
      const items = [await order('a')];
      const job = await run(await startJob(items));
      await takeCustody(topology);
      await digest('a');
      await moveDelivery(topology, 'dlv_digest' as DeliveryId, 'SENT');
      expect((await undo(job, items)).failures.map(({ detail }) => detail)).toEqual([
        `${slotOf('a')} is in digest dlv_digest, which is SENT: only a digest that waits is cancelled`,
      ]);
    });
  });

  it('leaves what an operator has sent again since', async () => {
    const items = [await order('a')];
    const job = await run(await startJob(items));
    await takeCustody(topology);
    await undo(job, items);
    const { ledger, ids } = topology.ports;
    const taken = await ledger.get(slotOf('a'));
    const moment = { now: topology.clock.now(), derive: ids.derive };
    const resent = taken && operatorResend(taken, HOUR, 'ada', moment);
    if (!resent?.ok) throw new Error('it can be sent again');
    await ledger.replace(resent.value);
    const second = await undo(job, items);
    expect(second.failures.map(({ detail }) => detail)).toEqual([expect.stringContaining('a person sent it again')]);
    expect(await stateOf('a')).toBe('WAITING');
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

  it('is done while jobs of many workspaces send', async () => {
    topology.clock.goOn();
    const items = [await order('a'), await order('b')];
    const job = await run(await startJob(items.slice(0, 1)));
    await takeCustody(topology);
    const working = runner();
    const others: Job[] = [];
    for (const workspace of ['shop', 'club', 'bank', 'school']) {
      others.push(await startJob(items, { rate: '0.01' }, workspace));
    }
    await working.round();
    const undoing = await startJob(items.slice(0, 1), { undoes: job.id });
    await working.round();
    await untilFound('the undo is done', async () => (await jobNow(undoing)).endedAt ?? undefined);
    expect(await stateOf('a')).toBe('CANCELLED');
    expect((await Promise.all(others.map(jobNow))).map(({ state }) => state)).toEqual(others.map(() => 'running'));
    await working.end();
  });

  it('waits until delivery has read all intents of the job', async () => {
    const items = [await order('a')];
    const job = await run(await startJob(items));
    const undone = undo(job, items);
    await takeCustody(topology);
    expect(await undone).toMatchObject({ state: 'done', done: 1 });
    expect(await stateOf('a')).toBe('CANCELLED');
  });

  it('cancels messages that came from lookups, and counts lookups without an answer', async () => {
    const recipients = { from: 'lookup', integration: 'crm', user_ids: 'event.user_ids' } as const;
    await publish(
      integration('crm', { kind: 'lookup', url: 'https://crm.example.com', authorization: { key: { secret: 'K' } } }),
      notification('order-paid', withRule({ when: 'true', recipients })),
    );
    await order('a');
    const items = [questionItem({ position: await newestPosition(), rule: 'order-paid.paid' } as MissingLookup)];
    const job = await run(await startJob(items));
    const ports = { ...topology.ports, slice: neverYield };
    expect(await countWaiting(job, items, ports)).toEqual({ waiting: 1, uncounted: 0 });
    const [record] = await topology.records('carillon.triggers');
    const trigger = record && topology.ports.codecs.trigger.decode(record.value);
    if (!trigger?.ok) throw new Error('there is no trigger');
    await ports.claims.claim([{ triggerId: trigger.value.id, position: 'carillon.lookups/0@0', at: 0 }]);
    expect(await countWaiting(job, items, ports)).toEqual({ waiting: 0, uncounted: 0 });
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
    await order('a');
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
