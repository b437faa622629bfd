import { openDelivery, type DeliveryState } from '@carillon/domain/deliveries';
import {
  foldConfiguration,
  ruleIdOf,
  ruleTitle,
  streamTable,
  type Configuration,
  type NotificationBody,
} from '@carillon/domain/configuration';
import { formatPosition } from '@carillon/domain/events';
import { newJob, type JobState } from '@carillon/domain/jobs';
import { OWNER_ACTOR } from '@carillon/domain/people';
import { noRowCounts, NO_READ_COUNTS, type Line, type MissingLookup, type CompareRun } from '@carillon/domain/runs';
import type { DeliveryId, JobId, RunId } from '@carillon/kernel';
import {
  compareEventCoroutine,
  compareForChecksum,
  deliveryIdOf,
  joinSlots,
  narrowRuleBook,
  readSourceRecord,
  runYielding,
} from '@carillon/stages';
import { freshName } from '@carillon/testing';
import {
  changesOf,
  givenIntent,
  neverYield,
  notification,
  ORDER_PAID,
  orderShop,
  workspaceSettings,
} from '@carillon/testing/given';
import { openTopology } from '@carillon/testing/topology';

const rule = ORDER_PAID.rules['paid'];
if (!rule) throw new Error('there is a rule');
export const PAID = rule;

/** `order-paid` with ids of this name. */
export const withIds = (name: string, when = 'event.total > 80'): NotificationBody => ({
  ...ORDER_PAID,
  id: `ntf_${name}`,
  rules: { paid: { ...PAID, id: `rul_${name}`, when } },
});

/** What a comparison starts from, and the state of its job. */
type Given = { readonly base?: Configuration; readonly state?: JobState };

const titlesOf = (configuration: Configuration): readonly (readonly [id: string, title: string])[] =>
  [...streamTable(configuration).rules.values()].flat().map((placed) => [ruleIdOf(placed), ruleTitle(placed)]);

/** Who started the jobs. */
const BY = {
  by: OWNER_ACTOR,
  byName: 'owner',
  from: { address: '127.0.0.1', userAgent: null },
  requestId: 'req_1',
};

/** A shop that notifies about orders above 100, and runs over its events. */
export async function openMissingFixture() {
  const topology = await openTopology({ partitions: 1 });
  topology.clock.standStill();
  await topology.publish(workspaceSettings({}), ...orderShop(withIds('old', 'event.total > 100')));
  const { runs } = topology.data;

  /** Id of the delivery of an order. */
  const slotOf = (id: string, notificationId = 'ntf_old'): DeliveryId =>
    deliveryIdOf({ slot: { workspace: 'shop', notificationId, channel: 'email', uniqueId: id } }, topology.ids);

  async function storeJob({ id, job, createdAt }: CompareRun, state: JobState): Promise<void> {
    const work = { action: 'compare_history', run: id };
    const stored = newJob({ ...BY, id: job, workspace: 'shop', work, of: 1 }, createdAt);
    await topology.ports.jobs.insert({ ...stored, state, endedAt: state === 'done' ? createdAt : null }, [id]);
  }

  /** Compares an edit of `order-paid` over all events, as the child process does, and stores the run with its rows. */
  async function compare(body: NotificationBody, given: Given = {}): Promise<CompareRun> {
    const { base = topology.ports.configuration.current(), state = 'done' } = given;
    const { ports } = topology;
    const changes = changesOf(base, [notification('order-paid', body)]);
    const after = foldConfiguration(base, { changes }, base.number + 1).configuration;
    const context = {
      configurations: { before: base, after },
      book: narrowRuleBook(ports.book, () => true),
      ids: topology.ids,
      findAnswer: () => undefined,
    };
    const titles = new Map([...titlesOf(base), ...titlesOf(after)]);
    const lines: Line[] = [];
    const lookups: MissingLookup[] = [];
    for (const record of await topology.records('carillon.events')) {
      const read = readSourceRecord(record, ports.log.logId);
      if (!read.ok || read.value.kind !== 'event') continue;
      const { event } = read.value;
      const compared = await runYielding(compareEventCoroutine(event, context), neverYield);
      lines.push(...compared.lines);
      for (const { ruleId, userIds } of compared.lookups) {
        const facts = { eventId: event.id, position: formatPosition(event.position), at: event.appendedAt };
        lookups.push({ ...facts, rule: titles.get(ruleId) ?? ruleId, userIds });
      }
    }
    const bySlot = (a: Line, b: Line): number =>
      a.slot === b.slot ? compareForChecksum(a, b) : a.slot < b.slot ? -1 : 1;
    const slots = [...joinSlots(lines.toSorted(bySlot), (ruleId) => titles.get(ruleId) ?? ruleId)];
    const differences = { ...noRowCounts().differences };
    for (const { difference } of slots) differences[difference] += 1;
    const now = topology.clock.now();
    const run: CompareRun = {
      id: freshName('run_') as RunId,
      workspace: 'shop',
      kind: 'compare',
      by: OWNER_ACTOR,
      from: 0,
      to: now,
      logStartsAt: null,
      logId: ports.log.logId,
      offsets: [],
      before: base.number,
      published: base.number,
      changes: [],
      notifications: ['order-paid'],
      notCompared: [],
      leftOut: [],
      progress: { read: 0, total: 0 },
      counts: {
        read: NO_READ_COUNTS,
        rows: { ...noRowCounts(), differences, byRule: [{ rule: 'order-paid.paid', ...differences }] },
      },
      checksum: null,
      job: freshName('job_') as JobId,
      createdAt: now,
      version: 1,
    };
    await runs.insert(run, changes);
    await runs.addRows(
      slots.flatMap(({ difference, ...slot }) =>
        difference === 'unchanged' ? [] : [{ ...slot, difference, run: run.id, slotState: 'none', slotReason: null }],
      ),
    );
    await runs.addLookups(lookups.map((lookup) => ({ ...lookup, run: run.id })));
    await storeJob(run, state);
    return run;
  }

  return {
    topology,
    compare,
    slotOf,
    /** The ports of the control role. */
    ports: () => ({ ...topology.ports, slice: neverYield, runs }),
    /** Receives an order. */
    order: (id: string, total: number) =>
      topology.event({ order_id: id, total, customer: { name: 'Ada', email: `${id}@example.com` } }),
    /** Stores a job that sends and may have asked partners, and returns its id. */
    async storeSendingJob(): Promise<JobId> {
      const id = freshName('job_') as JobId;
      const facts = { ...BY, id, workspace: 'shop', work: { action: 'send_missing' }, of: 1 };
      await topology.ports.jobs.insert(newJob(facts, topology.clock.now()), []);
      return id;
    },
    publish: (body: NotificationBody | null) => topology.publish(notification('order-paid', body)),
    /** Stores a delivery in a slot. */
    async hold(slot: DeliveryId, state: DeliveryState, clean = true): Promise<void> {
      const moment = { now: topology.clock.now(), derive: topology.ids.derive };
      const delivery = openDelivery(givenIntent(slot, { uniqueId: slot }), 'carillon.intents/0@0', slot, moment);
      await topology.ports.ledger.insert([{ ...delivery, state, clean, nextAt: null }]);
    },
  };
}
export type MissingFixture = Awaited<ReturnType<typeof openMissingFixture>>;
