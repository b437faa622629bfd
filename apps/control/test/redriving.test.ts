import type { DeadLetter } from '@carillon/domain/events';
import { newJob } from '@carillon/domain/jobs';
import { newAsking, triggerIdOf } from '@carillon/domain/lookups';
import { OWNER_ACTOR } from '@carillon/domain/people';
import type { Receipt } from '@carillon/domain/receipts';
import { openDelivery, type Intent } from '@carillon/domain/deliveries';
import type { DeliveryId, EventId, JobId, RunId } from '@carillon/kernel';
import type { DeadLetterRow } from '@carillon/ports';
import { deadLetterOf, deadLetterRecord, newTask, UNKNOWN_RECEIPT } from '@carillon/stages';
import {
  givenIntent,
  givenLookup,
  givenReceipt,
  givenTrigger,
  integration,
  notification,
  ORDER_PAID,
  orderShop,
} from '@carillon/testing/given';
import { openTopology, type Topology } from '@carillon/testing/topology';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { redriveLetter, redrivenRecord } from '../src/redriving.ts';
import { redriveLease } from '../src/runs/redrive-lease.ts';
import { createSentByJobs } from '../src/runs/sent-by-jobs.ts';
import { markEvaluated, takeCustody } from './custody.ts';

let topology: Topology;
beforeEach(async () => {
  topology = await openTopology({ partitions: 1 });
});
afterEach(() => topology.close());

const PLACE = { partition: 0, offset: 7, key: 'k', headers: { workspace: 'shop' }, time: 0 } as const;
const parked = (topic: 'carillon.receipts' | 'carillon.consents', value: Uint8Array, reason: string): DeadLetter => {
  const stage = topic === 'carillon.receipts' ? 'receipts' : 'consents';
  return deadLetterOf(stage, { ...PLACE, topic, value }, reason, 'why', topology.ports);
};
const report = givenReceipt('dlv_1' as DeliveryId, 1);
const written = (wish: 'stop' | 'start'): Receipt => ({
  ...report,
  attempt: null,
  inbound: { address: '+4915112345678', wish },
});
const bytesOf = (receipt: Receipt): Uint8Array => topology.ports.codecs.receipt.encode(receipt);
const redriven = (letter: DeadLetter, more: Partial<Topology['ports']> = {}) => {
  const ports = { ...topology.ports, ...more };
  const sentByJobs = createSentByJobs(new AbortController().signal, ports);
  return redrivenRecord(letter, { asking: 'req_again', sentByJobs }, ports);
};

describe('Redrive of an unreadable or unprocessable record', () => {
  it('an opt-out is appended to its topic unchanged, because the newest choice of a person wins', async () => {
    const value = new Uint8Array([0, 1, 2]);
    expect(await redriven(parked('carillon.consents', value, 'unknown_schema'))).toMatchObject({
      topic: 'carillon.consents',
      partition: 0,
      key: 'k',
      value,
    });
  });

  it.each([
    ['a report that an older release could not read', () => report, 'unknown_schema'],
    ['a STOP that an older release could not read', () => written('stop'), 'unknown_schema'],
    ['a STOP to an account that was away', () => written('stop'), UNKNOWN_RECEIPT],
  ])('%s is appended to its topic again', async (_, receipt, reason) => {
    const value = bytesOf(receipt());
    expect(await redriven(parked('carillon.receipts', value, reason))).toMatchObject({
      topic: 'carillon.receipts',
      value,
    });
  });

  it.each([
    ['a report of no attempt of ours', () => bytesOf(report), UNKNOWN_RECEIPT, 'the receipt would be refused again'],
    ['a START, which might undo a later STOP', () => bytesOf(written('start')), UNKNOWN_RECEIPT, 'a START is not'],
    ['a START that could not be read', () => bytesOf(written('start')), 'unknown_schema', 'a START is not'],
    ['what is unreadable still', () => new Uint8Array([1, 2]), 'not_framed', 'cannot read the receipt either'],
  ])('%s is refused', async (_, value, reason, why) => {
    await expect(redriven(parked('carillon.receipts', value(), reason))).rejects.toThrow(why);
  });

  it.each([
    ['a database change', 'source shop-db', 'change_too_large'],
    ['a record of a Kafka topic', 'source bus, topic carillon.events', 'record_unreadable'],
  ])('%s missing from the log is refused', async (_, topic, reason) => {
    const letter = parked('carillon.receipts', new Uint8Array(), reason);
    const refused: DeadLetter = { ...letter, stage: 'append', topic };
    await expect(redriven(refused)).rejects.toThrow(
      `reading it from the source would fail again: npx carillon dead-letters dismiss ${refused.id}`,
    );
  });
});

const sent = { person: 'ada', job: 'job_1' as JobId, run: 'run_1' as RunId };
const sentIntent = (uniqueId = 'sent'): Intent => ({
  ...givenIntent('sent', { eventId: 'evt_1' as EventId, uniqueId }),
  notification: 'order-paid',
  sentBy: sent,
});

/** Stores the delivery of a message about the event `evt_1`. */
async function deliver(intent: Intent): Promise<void> {
  const moment = { now: topology.clock.now(), derive: topology.ids.derive };
  const delivery = openDelivery(intent, 'carillon.intents/0@0', 'dlv_1' as DeliveryId, moment);
  await topology.ports.ledger.insert([{ ...delivery, state: 'SENT', nextAt: null }]);
}

async function startJob(workspace: string, endedAt: number | null, id = 'job_1'): Promise<void> {
  const facts = { id: id as JobId, workspace, work: { action: 'send_missing' }, of: 1 };
  const by = { by: OWNER_ACTOR, byName: 'ada', from: { address: '127.0.0.1', userAgent: null }, requestId: 'req_1' };
  const job = newJob({ ...facts, ...by }, topology.clock.now());
  await topology.ports.jobs.insert({ ...job, endedAt, state: endedAt === null ? 'running' : 'done' }, ['item']);
}

describe('A message that became a dead letter', () => {
  const redrive = (uniqueId: string, more: Partial<Intent> = {}) => {
    const { sentBy: _job, ...live } = sentIntent(uniqueId);
    const value = topology.ports.codecs.intent.encode({ ...live, ...more });
    const record = { ...PLACE, topic: 'carillon.intents', value } as const;
    return redriven(deadLetterOf('deliver', record, 'ledger_refused', 'why', topology.ports));
  };

  it('is not redriven if a sending job notified its person about its event under another unique_id', async () => {
    await deliver(sentIntent());
    await expect(redrive('other')).rejects.toThrow('job_1 has sent dlv_1 about its event since');
    expect(await redrive('sent')).toMatchObject({ topic: 'carillon.intents' });
    expect(await redrive('other', { person: 'bob' })).toMatchObject({ topic: 'carillon.intents' });
  });

  it('is not redriven while a sending job of its workspace has not ended', async () => {
    await startJob('shop', null);
    await expect(redrive('other')).rejects.toThrow('redrive it when job_1 has ended');
  });
});

describe('An event that became a dead letter', () => {
  const redrive = () => {
    const headers = { kind: 'event', workspace: 'shop', event_id: 'evt_1' };
    const record = { ...PLACE, headers, topic: 'carillon.events', value: new Uint8Array() } as const;
    return redriven(deadLetterOf('evaluate', record, 'invalid_json', 'why', topology.ports));
  };

  it('is not redriven if a sending job notified people of it by rules that have changed since', async () => {
    const configNumber = await topology.publish(...orderShop());
    await deliver({ ...sentIntent(), configNumber });
    expect(await redrive()).toMatchObject({ topic: 'carillon.events' });
    await topology.publish(notification('order-paid', { ...ORDER_PAID, rules: {} }));
    await expect(redrive()).rejects.toThrow('its rules were changed, so the event may notify the same person again');
  });
});

describe('The redrive of a dead letter', () => {
  const isLeaseFree = async (): Promise<boolean> => {
    const { leases, clock } = topology.ports;
    const isFree = await leases.acquire(redriveLease('shop'), 'a job', clock.now(), clock.now() + 1);
    if (isFree) await leases.release(redriveLease('shop'), 'a job');
    return isFree;
  };
  const redriveQuestion = async (more: Partial<Topology['ports']>): Promise<void> => {
    const { log, clock, codecs } = topology.ports;
    const record = { ...PLACE, topic: 'carillon.triggers' } as const;
    const value = codecs.trigger.encode(givenTrigger({ causedAt: clock.now() }));
    const letter = deadLetterOf('ask', { ...record, value }, 'partner_refused', 'why', topology.ports);
    await log.append([deadLetterRecord(letter, topology.ports)]);
    const row = { id: letter.id, ownPartition: 0, ownOffset: 0 } as DeadLetterRow;
    const asked = { by: 'ada', asking: 'req_again', stop: new AbortController().signal };
    await redriveLetter(row, asked, { ...topology.ports, ...more });
  };

  it('keeps sending jobs of its workspace from beginning until its record is on the log', async () => {
    const { log } = topology.ports;
    const seen: boolean[] = [];
    const append: typeof log.append = async (records) => {
      seen.push(await isLeaseFree());
      return log.append(records);
    };
    await redriveQuestion({ log: { ...log, append } });
    expect([...seen, await isLeaseFree()]).toEqual([false, true]);
  });

  describe('while delivery has not read all messages of a sending job', () => {
    /** Checkpoints that do `work` at each poll of them. Delivery takes custody at the third. */
    const polling = (work: (polls: number) => Promise<unknown>) => {
      const { checkpoints } = topology.ports;
      let polls = 0;
      const load: typeof checkpoints.load = async (group, topic, partition) => {
        if (group === 'delivery') {
          polls += 1;
          await work(polls);
          if (polls === 3) await takeCustody(topology);
        }
        return checkpoints.load(group, topic, partition);
      };
      return { checkpoints: { ...checkpoints, load } };
    };
    beforeEach(async () => {
      await startJob('shop', topology.clock.now());
      const { codecs, log } = topology.ports;
      const value = codecs.intent.encode({ ...sentIntent(), notification: 'welcome' });
      await log.append([{ topic: 'carillon.intents', partition: 0, key: 'k', headers: {}, value }]);
    });

    it('lets jobs begin', async () => {
      const seen: boolean[] = [];
      await redriveQuestion(polling(async () => seen.push(await isLeaseFree())));
      expect(seen).toEqual([true, true, true]);
    });

    it('fails if another job has sent messages meanwhile', async () => {
      const work = async (polls: number) => {
        if (polls === 2) await startJob('shop', topology.clock.now(), 'job_2');
      };
      await expect(redriveQuestion(polling(work))).rejects.toMatchObject({ code: 'conflict' });
    });
  });
});

describe('A lookup that was given up', () => {
  const redrive = async (more: Partial<Topology['ports']> = {}) => {
    const trigger = givenTrigger({ causedAt: topology.clock.now() });
    const value = topology.ports.codecs.trigger.encode(trigger);
    const record = { ...PLACE, topic: 'carillon.triggers', value } as const;
    return redriven(deadLetterOf('ask', record, 'partner_refused', 'why', topology.ports), more);
  };

  it.each([
    {
      name: 'is not asked again if a sending job notified people of its event',
      more: { sentBy: sent },
      isAsked: false,
    },
    { name: 'is asked again if only the live rule did', more: {}, isAsked: true },
    {
      name: 'is asked again if the job sent a message of another notification',
      more: { sentBy: sent, notification: 'welcome' },
      isAsked: true,
    },
    {
      name: 'is asked again if the job sent a message of another workspace',
      more: { sentBy: sent, slot: { ...givenIntent('sent').slot, workspace: 'market' } },
      isAsked: true,
    },
  ])('$name', async ({ more, isAsked }) => {
    const { sentBy: _job, ...live } = sentIntent();
    await deliver({ ...live, ...more });
    if (isAsked) expect(await redrive()).toMatchObject({ topic: 'carillon.triggers' });
    else await expect(redrive()).rejects.toThrow('job_1 has sent dlv_1 about its event since');
  });

  it('is not asked again while a sending job of its workspace has not ended', async () => {
    await startJob('shop', null);
    await expect(redrive()).rejects.toMatchObject({ code: 'conflict' });
    await expect(redrive()).rejects.toThrow('redrive it when job_1 has ended');
  });

  it('is asked again while a sending job of another workspace has not ended', async () => {
    await startJob('market', null);
    expect(await redrive()).toMatchObject({ topic: 'carillon.triggers' });
  });

  it('is not asked again if a message of a sending job is on the log without custody', async () => {
    await startJob('shop', topology.clock.now());
    const value = topology.ports.codecs.intent.encode(sentIntent());
    await topology.ports.log.append([{ topic: 'carillon.intents', partition: 0, key: 'k', headers: {}, value }]);
    await Promise.all([expect(redrive()).rejects.toThrow('job_1 has sent'), takeCustody(topology)]);
  });

  describe('of an event for which an ended sending job asked a partner', () => {
    const publishLookup = () => {
      const url = 'https://crm.example.com';
      const crm = integration('crm', { kind: 'lookup', url, authorization: { key: { secret: 'K' } } });
      const unique = { user_ids: 'event.user_ids', unique_id: 'event.order_id' };
      const recipients = { from: 'lookup', integration: 'crm', ...unique } as const;
      const paid = { stream: 'orders', when: 'true', recipients } as const;
      return topology.publish(...orderShop(), crm, notification('order-paid', { ...ORDER_PAID, rules: { paid } }));
    };
    const asked = () => {
      const live = givenTrigger({ causedAt: topology.clock.now() });
      const id = triggerIdOf(topology.ids.derive, live.ruleId, live.eventId, { part: 0, runId: sent.job });
      return { ...live, id, sentBy: sent };
    };
    const openQuestion = async () => {
      const task = newTask(asked(), newAsking(asked(), { partition: 0, offset: 0, key: 'k' }), topology.clock.now());
      await topology.ports.tasks.insert([task]);
      return task;
    };
    /** Checkpoints whose readers come to the end of the log at the third poll, when `work` is done. */
    const catchingUp = (work: () => Promise<unknown>) => {
      const { checkpoints } = topology.ports;
      let polls = 0;
      const load: typeof checkpoints.load = async (...place) => {
        polls += 1;
        if (polls === 3) {
          await work();
          await markEvaluated(topology);
        }
        return checkpoints.load(...place);
      };
      return { checkpoints: { ...checkpoints, load } };
    };
    beforeEach(async () => {
      await publishLookup();
      await startJob('shop', topology.clock.now());
    });

    it('is not asked again until the partner of the job has answered', async () => {
      const task = await openQuestion();
      await expect(redrive()).rejects.toMatchObject({ code: 'conflict' });
      await expect(redrive()).rejects.toThrow('redrive it when the partner has answered or the question was given up');
      const ended = { kind: 'parked', reason: 'partner_refused', deadLetterId: null };
      const data = JSON.stringify({ ...(JSON.parse(task.data) as object), trigger: null, ended });
      await topology.ports.tasks.replace(task.version, { ...task, done: true, data, version: task.version + 1 });
      expect(await redrive()).toMatchObject({ topic: 'carillon.triggers' });
    });

    it('is not asked again until the engine has read the lookups on the log', async () => {
      const { log, codecs } = topology.ports;
      const value = codecs.trigger.encode(asked());
      await log.append([{ topic: 'carillon.triggers', partition: 0, key: 'k', headers: {}, value }]);
      await expect(redrive(catchingUp(openQuestion))).rejects.toThrow('redrive it when the partner has answered');
    });

    it('is not asked again while the message of that answer is not in custody', async () => {
      const { log, codecs, claims } = topology.ports;
      const value = codecs.lookup.encode(givenLookup({ trigger: asked() }));
      await log.append([{ topic: 'carillon.lookups', partition: 0, key: 'k', headers: {}, value }]);
      await claims.claim([{ triggerId: asked().id, position: 'carillon.lookups/0@0', at: topology.clock.now() }]);
      await expect(redrive(catchingUp(() => deliver(sentIntent())))).rejects.toThrow('job_1 has sent dlv_1');
    });
  });
});
