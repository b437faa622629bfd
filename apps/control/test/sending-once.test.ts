import type { MissingLookup } from '@carillon/domain/runs';
import { CarillonError, type DeliveryId, type RunId } from '@carillon/kernel';
import { givenIntent, integration, notification } from '@carillon/testing/given';
import { untilFound } from '@carillon/testing/topology';
import { describe, expect, it } from 'vitest';
import { questionItem } from '../src/runs/send-items.ts';
import { takeCustody } from './custody.ts';
import {
  hold,
  intents,
  jobNow,
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

describe('A job that sends once', () => {
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

  it('sends a message although a digest of another message names the same event and person', async () => {
    const item = await order('a');
    const digested = givenIntent('digest', { uniqueId: 'digest-1', person: 'a@example.com', eventId: newestEvent });
    const digest = {
      ...digested,
      slot: { ...digested.slot, notificationId: 'ntf_paid' },
      digest: { head: 'head', n: 1, items: [] },
    };
    await hold('dlv_digest' as DeliveryId, digest, 'SENT');
    expect(await run(await startJob([item]))).toMatchObject({ state: 'done', done: 1, failed: 0 });
  });

  describe.each([
    { name: 'sent by the rule', facts: {}, ruleId: 'rul_paid', state: 'SENT', isAsked: false },
    { name: 'sent by a rule that is gone', facts: {}, ruleId: 'rul_gone', state: 'SENT', isAsked: false },
    { name: 'sent by another rule', facts: {}, ruleId: 'rul_other', state: 'SENT', isAsked: true },
    { name: 'suppressed', facts: {}, ruleId: 'rul_paid', state: 'SUPPRESSED', isAsked: false },
    {
      name: 'suppressed and confirmed',
      facts: { slot: 'none,stopped' },
      ruleId: 'rul_paid',
      state: 'SUPPRESSED',
      isAsked: true,
    },
    { name: 'of the job itself', facts: { isOwn: true }, ruleId: 'rul_paid', state: 'SENT', isAsked: true },
  ] as const)('with a message of the event $name', ({ facts, ruleId, state, isAsked }) => {
    it(`${isAsked ? 'asks' : 'does not ask'} the partner that the changed rule names`, async () => {
      const lookup = { from: 'lookup', integration: 'crm', user_ids: 'event.user_ids' } as const;
      const { rules, ...body } = withRule({ when: 'true', recipients: lookup });
      await publish(
        integration('crm', { kind: 'lookup', url: 'https://crm.example.com', authorization: { key: { secret: 'K' } } }),
        notification('order-paid', { ...body, rules: { ...rules, other: { ...paid, id: 'rul_other' } } }),
      );
      await order('a');
      const item = questionItem({ position: await newestPosition(), rule: 'order-paid.paid' } as MissingLookup);
      const job = await startJob([item], 'slot' in facts ? { slot: facts.slot } : {});
      const sentBy = { person: 'ada', job: job.id, run: 'run_1' as RunId };
      const live = givenIntent('live', { uniqueId: 'old', eventId: newestEvent, ...('isOwn' in facts && { sentBy }) });
      const slot = { ...live.slot, notificationId: 'ntf_paid' };
      await hold('dlv_old' as DeliveryId, { ...live, slot, ruleId }, state);
      const { failures } = await run(job);
      expect(failures.map(({ code, detail }) => [code, detail.includes(`dlv_old is ${state}`)])).toEqual(
        isAsked ? [] : [['conflict', true]],
      );
      expect(await topology.records('carillon.triggers')).toHaveLength(isAsked ? 1 : 0);
    });
  });

  it('waits for the custody of intents on the log before it looks for messages under another unique_id', async () => {
    const item = await order('a');
    await topology.evaluates();
    await untilFound('the live rule has fired', async () => ((await intents()).length > 0 ? true : undefined));
    const recipients = { ...paid.recipients, unique_id: 'event.order_id + "-again"' };
    await publish(notification('order-paid', withRule({ when: 'event.total > 80', recipients })));
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
});

describe('Two jobs of a workspace that send', () => {
  it('run one after the other, also in two processes', async () => {
    const item = await order('a');
    const older = await startJob([item]);
    topology.clock.pass(1);
    const recipients = { ...paid.recipients, unique_id: 'event.order_id + "-again"' };
    await publish(notification('order-paid', withRule({ when: 'event.total > 80', recipients })));
    const newer = await startJob([item.replace(slotOf('a'), slotOf('a-again'))]);
    const runners = [runner(), runner()];
    await Promise.all(runners.map((each) => each.round()));
    await Promise.all(runners.map((each) => each.idle()));
    expect([(await jobNow(older)).state, (await jobNow(newer)).state]).toEqual(['done', 'waiting']);
    await takeCustody(topology);
    expect((await run(newer)).failures).toMatchObject([{ code: 'conflict' }]);
    expect(await slots()).toEqual([slotOf('a')]);
  });
});

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
      await takeCustody(topology);
      expect(await run(job)).toMatchObject({ state: 'done', done: 3, failed: 0 });
      await takeCustody(topology);
      for (const id of ids) {
        expect(await topology.ports.ledger.get(slotOf(id))).toMatchObject({ state: 'WAITING', duplicates: 0 });
      }
    }
  });
});
