import type { DeadLetter } from '@carillon/domain/events';
import { newJob } from '@carillon/domain/jobs';
import { OWNER_ACTOR } from '@carillon/domain/people';
import type { Receipt } from '@carillon/domain/receipts';
import { openDelivery } from '@carillon/domain/deliveries';
import type { DeliveryId, EventId, JobId, RunId } from '@carillon/kernel';
import { deadLetterOf, UNKNOWN_RECEIPT } from '@carillon/stages';
import { givenIntent, givenReceipt, givenTrigger } from '@carillon/testing/given';
import { openTopology, type Topology } from '@carillon/testing/topology';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { redrivenRecord } from '../src/redriving.ts';
import { takeCustody } from './custody.ts';

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
const redriven = (letter: DeadLetter) =>
  redrivenRecord(letter, { asking: 'req_again', stop: new AbortController().signal }, topology.ports);

describe('What was parked because it could not be read, or because nobody could carry it out', () => {
  it('an opt-out goes on its topic once more as it was: the newest word of a person wins', async () => {
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
  ])('%s goes on its topic once more', async (_, receipt, reason) => {
    const value = bytesOf(receipt());
    expect(await redriven(parked('carillon.receipts', value, reason))).toMatchObject({
      topic: 'carillon.receipts',
      value,
    });
  });

  it.each([
    ['a report of no attempt of ours', () => bytesOf(report), UNKNOWN_RECEIPT, 'it would be refused again'],
    ['a START, which might undo a later STOP', () => bytesOf(written('start')), UNKNOWN_RECEIPT, 'a START is not'],
    ['a START that could not be read', () => bytesOf(written('start')), 'unknown_schema', 'a START is not'],
    ['what is unreadable still', () => new Uint8Array([1, 2]), 'not_framed', 'cannot read it either'],
  ])('%s does not', async (_, value, reason, why) => {
    await expect(redriven(parked('carillon.receipts', value(), reason))).rejects.toThrow(why);
  });

  it.each([
    ['a database change', 'source shop-db', 'change_too_large'],
    ['a record of a Kafka topic', 'source bus, topic carillon.events', 'record_unreadable'],
  ])('%s that the log does not have does not', async (_, topic, reason) => {
    const letter = parked('carillon.receipts', new Uint8Array(), reason);
    const refused: DeadLetter = { ...letter, stage: 'append', topic };
    await expect(redriven(refused)).rejects.toThrow(
      `what its source has would fail again: npx carillon dead-letters dismiss ${refused.id}`,
    );
  });
});

describe('A question that was given up', () => {
  const sent = { person: 'ada', job: 'job_1' as JobId, run: 'run_1' as RunId };
  const redrive = async () => {
    const trigger = givenTrigger({ causedAt: topology.clock.now() });
    const value = topology.ports.codecs.trigger.encode(trigger);
    const record = { ...PLACE, topic: 'carillon.triggers', value } as const;
    return redriven(deadLetterOf('ask', record, 'partner_refused', 'why', topology.ports));
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
    const intent = { ...givenIntent('sent', { eventId: 'evt_1' as EventId }), notification: 'order-paid', ...more };
    const moment = { now: topology.clock.now(), derive: topology.ids.derive };
    const delivery = openDelivery(intent, 'carillon.intents/0@0', 'dlv_1' as DeliveryId, moment);
    await topology.ports.ledger.insert([{ ...delivery, state: 'SENT', nextAt: null }]);
    if (isAsked) expect(await redrive()).toMatchObject({ topic: 'carillon.triggers' });
    else await expect(redrive()).rejects.toThrow('job_1 has sent dlv_1 about its event since');
  });

  const startJob = async (workspace: string, endedAt: number | null): Promise<void> => {
    const facts = { id: 'job_1' as JobId, workspace, work: { action: 'send_missing' }, of: 1 };
    const by = { by: OWNER_ACTOR, byName: 'ada', from: { address: '127.0.0.1', userAgent: null }, requestId: 'req_1' };
    const job = newJob({ ...facts, ...by }, topology.clock.now());
    await topology.ports.jobs.insert({ ...job, endedAt, state: endedAt === null ? 'running' : 'done' }, ['item']);
  };

  it('is not asked again while a sending job of its workspace has not ended', async () => {
    await startJob('shop', null);
    await expect(redrive()).rejects.toMatchObject({ code: 'conflict' });
    await expect(redrive()).rejects.toThrow('redrive it when job_1 has ended');
  });

  it('is asked again while a sending job of another workspace has not ended', async () => {
    await startJob('market', null);
    expect(await redrive()).toMatchObject({ topic: 'carillon.triggers' });
  });

  it('is not asked again if the message of a sending job is on the log and not in custody yet', async () => {
    await startJob('shop', topology.clock.now());
    const intent = { ...givenIntent('sent', { eventId: 'evt_1' as EventId }), sentBy: sent };
    const value = topology.ports.codecs.intent.encode(intent);
    await topology.ports.log.append([{ topic: 'carillon.intents', partition: 0, key: 'k', headers: {}, value }]);
    await Promise.all([expect(redrive()).rejects.toThrow('job_1 has sent'), takeCustody(topology)]);
  });
});
