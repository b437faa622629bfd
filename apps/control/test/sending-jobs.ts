import { openDelivery, type DeliveryState, type Intent } from '@carillon/domain/deliveries';
import type { NotificationBody } from '@carillon/domain/configuration';
import { formatPosition } from '@carillon/domain/events';
import { newJob, type Job } from '@carillon/domain/jobs';
import { OWNER_ACTOR } from '@carillon/domain/people';
import type { MissingMessage } from '@carillon/domain/runs';
import type { AuditEntry } from '@carillon/domain/audit';
import type { DeliveryId, EventId, JobId } from '@carillon/kernel';
import { deliveryIdOf } from '@carillon/stages';
import { freshName } from '@carillon/testing';
import { neverYield, ORDER_PAID, orderShop, type Wish } from '@carillon/testing/given';
import { openTopology, type Topology } from '@carillon/testing/topology';
import { afterEach, beforeEach } from 'vitest';
import type { ControlPorts } from '../src/index.ts';
import { createJobRunner } from '../src/jobs/runner.ts';
import { messageItem } from '../src/runs/send-items.ts';
import { markEvaluated, moveDelivery } from './custody.ts';

export const HOUR = 3_600_000;
const rule = ORDER_PAID.rules['paid'];
if (!rule) throw new Error('there is a rule');
export const paid = rule;
export const withRule = (edit: Partial<typeof paid>): NotificationBody => ({
  ...ORDER_PAID,
  id: 'ntf_paid',
  rules: { paid: { ...paid, id: 'rul_paid', ...edit } },
});

export let topology: Topology;
/** Number of the configuration that a new job evaluates by. */
export let configuration: number;
export let newestEvent: EventId;

/** Opens a shop for each test of a file that notifies about orders above 80. */
export function useShop(): void {
  beforeEach(async () => {
    isEvaluated = true;
    topology = await openTopology({ partitions: 1 });
    topology.clock.standStill();
    await publish(...orderShop(withRule({ when: 'event.total > 80' })));
  });
  afterEach(() => topology.close());
}

/** Publishes changes. A new job evaluates by them. */
export async function publish(...changes: readonly Wish[]): Promise<void> {
  configuration = await topology.publish(...changes);
}

export const slotOf = (uniqueId: string): DeliveryId =>
  deliveryIdOf({ slot: { workspace: 'shop', notificationId: 'ntf_paid', channel: 'email', uniqueId } }, topology.ids);

/** Appends the event of an order and returns the item of its message. */
export async function order(id: string, total = 90, slot = slotOf(id)): Promise<string> {
  const body = { order_id: id, total, user_ids: ['ada'], customer: { name: 'Ada', email: `${id}@example.com` } };
  newestEvent = await topology.event(body);
  return messageItem({ slot, row: { position: await newestPosition() } } as MissingMessage);
}
export async function newestPosition(): Promise<string> {
  const record = (await topology.records('carillon.events')).at(-1);
  if (!record) throw new Error('there is no event');
  return formatPosition({ ...record, logId: topology.ports.log.logId });
}

/** Stores a job that sends these items, or undoes such a job. */
export async function startJob(
  items: readonly string[],
  work: { readonly [name: string]: string } = {},
  workspace = 'shop',
): Promise<Job> {
  if (isEvaluated) await markEvaluated(topology);
  const sending = {
    run: 'run_1',
    configuration: String(configuration),
    checksum: 'c',
    slot: 'none',
    expires: '24h',
    rate: '1000',
    ...work,
  };
  const facts = {
    id: freshName('job_') as JobId,
    workspace,
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
export function runner(more: Partial<ControlPorts> = {}) {
  runners += 1;
  const watch = { trouble: (where: string, error: unknown) => void troubles.push([where, error]) };
  const ports = {
    ...topology.ports,
    runs: topology.data.runs,
    people: topology.data.people,
    runChild: { known: async () => [], forget: async () => undefined } as unknown as ControlPorts['runChild'],
    slice: neverYield,
    watch,
    ...more,
  };
  return createJobRunner(ports as unknown as ControlPorts, `runner-${runners}`, true);
}
const troubles: unknown[] = [];

let isEvaluated = true;
/** Lets a test evaluate the events itself. */
export const leaveUnevaluated = (): void => void (isEvaluated = false);

/** Lets a runner end a job and returns how it ended. */
export async function run(job: Job, with_ = runner()): Promise<Job> {
  if (isEvaluated) await markEvaluated(topology);
  await with_.round();
  await with_.idle();
  return jobNow(job);
}
export async function jobNow({ id }: Job): Promise<Job> {
  const newest = await topology.ports.jobs.get(id);
  if (!newest) throw new Error('the job is gone');
  return newest;
}

/** Lets a runner do a job once more that died before it wrote its progress. */
export async function repeat(job: Job): Promise<void> {
  const repeated = { ...(await jobNow(job)), done: 0, state: 'waiting', endedAt: null } as const;
  await topology.ports.jobs.replace({ ...repeated, version: repeated.version + 1 });
  await run(job);
}

/** Targets and outcomes of the audit entries of an action. */
export async function audited(action: AuditEntry['what']) {
  return (await topology.records('carillon.audit')).flatMap(({ value }) => {
    const read = topology.ports.codecs.audit.decode(value);
    if (!read.ok || read.value.kind !== 'entry' || read.value.what !== action) return [];
    return [[read.value.target, read.value.outcome]];
  });
}

export async function intents(): Promise<readonly Intent[]> {
  return (await topology.records('carillon.intents')).flatMap(({ value }) => {
    const read = topology.ports.codecs.intent.decode(value);
    return read.ok ? [read.value] : [];
  });
}
export const slots = async () => (await intents()).map((intent) => deliveryIdOf(intent, topology.ids));

/** Puts a delivery of an intent into a state, as if it had come to it by itself. */
export async function hold(slot: DeliveryId, intent: Intent, state: DeliveryState): Promise<void> {
  if (await moveDelivery(topology, slot, state)) return;
  const moment = { now: topology.clock.now(), derive: topology.ids.derive };
  await topology.ports.ledger.insert([
    { ...openDelivery(intent, 'carillon.intents/0@0', slot, moment), state, nextAt: null },
  ]);
}
