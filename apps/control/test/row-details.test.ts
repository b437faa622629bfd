import { findResource, notificationIdOf } from '@carillon/domain/configuration';
import { formatPosition, type SourceEvent } from '@carillon/domain/events';
import { OWNER_ACTOR } from '@carillon/domain/people';
import { dayOf, type Row, type CompareRun } from '@carillon/domain/runs';
import type { EventId, JobId, RunId } from '@carillon/kernel';
import { deliveryIdOf, readSourceRecord } from '@carillon/stages';
import { neverYield, notification, ORDER_PAID, orderShop } from '@carillon/testing/given';
import { openTopology, type Topology } from '@carillon/testing/topology';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { createRowDetails } from '../src/runs/row-details.ts';

const GUESTS = ['ada', 'bob', 'cem', 'dee'] as const;
const INVITED = notification('order-paid', {
  ...ORDER_PAID,
  rules: {
    paid: {
      stream: 'orders',
      when: 'event.status == "paid"',
      recipients: { from: 'event', for_each: 'event.guests', to: { email: 'item' }, unique_id: 'event_id + item' },
    },
  },
});

let topology: Topology;
let run: CompareRun;
let events: readonly SourceEvent[];
beforeAll(async () => {
  topology = await openTopology({ partitions: 1 });
  const published = await topology.publish(...orderShop().filter(({ ref }) => ref.kind !== 'notification'), INVITED);
  for (const order of ['a', 'b']) {
    await topology.event({ status: 'paid', guests: GUESTS.map((name) => `${name}@${order}.example.com`) });
  }
  const { log } = topology.ports;
  const records = await topology.records('carillon.events');
  events = records.flatMap((record) => {
    const read = readSourceRecord(record, log.logId);
    return read.ok && read.value.kind === 'event' ? [read.value.event] : [];
  });
  run = {
    id: 'run_1' as RunId,
    workspace: 'shop',
    kind: 'compare',
    by: OWNER_ACTOR,
    from: 0,
    to: Date.now(),
    logStartsAt: null,
    logId: log.logId,
    offsets: [],
    before: published,
    published,
    changes: [],
    notifications: ['order-paid'],
    notCompared: [],
    leftOut: [],
    progress: { read: 2, total: 2 },
    counts: null,
    checksum: null,
    job: 'job_1' as JobId,
    createdAt: 0,
    version: 1,
  };
});
afterAll(() => topology.close());

function rowOf(event: SourceEvent, address: string): Row {
  const placed = findResource(topology.ports.configuration.current(), 'notification', 'shop', 'order-paid');
  if (!placed) throw new Error('there is a notification');
  const slot = {
    workspace: 'shop',
    notificationId: notificationIdOf(placed),
    channel: 'email' as const,
    uniqueId: event.id + address,
  };
  return {
    run: run.id,
    slot: deliveryIdOf({ slot }, topology.ids),
    difference: 'changed',
    oldSlot: null,
    ruleId: 'rul_1',
    rule: 'order-paid.paid',
    channel: 'email',
    eventId: event.id,
    position: formatPosition(event.position),
    at: event.appendedAt,
    day: dayOf(event.appendedAt),
    person: 'hash',
    slotState: 'none',
    slotReason: null,
  };
}

async function detailsOf() {
  const { ports } = topology;
  let reads = 0;
  const read: typeof ports.log.read = (...range) => {
    reads += 1;
    return ports.log.read(...range);
  };
  const details = await createRowDetails(run, {
    ...ports,
    log: { ...ports.log, read },
    slice: neverYield,
    runs: { edit: async () => [] },
  });
  return { details, reads: () => reads };
}

describe('the details of rows', () => {
  it('evaluate the event of consecutive rows once, and name the person of each row', async () => {
    const { details, reads } = await detailsOf();
    for (const [index, event] of events.entries()) {
      for (const name of GUESTS) {
        const address = `${name}@${['a', 'b'][index]}.example.com`;
        expect(await details(rowOf(event, address))).toMatchObject({ before: address, after: address });
      }
    }
    expect(reads()).toBe(events.length);
    expect(events).toHaveLength(2);
  });

  it('are empty for a deleted event, and for a slot without a message on either side', async () => {
    const { details } = await detailsOf();
    const [event] = events;
    if (!event) throw new Error('there is an event');
    const nobody = { person: null, before: null, after: null };
    const row = rowOf(event, 'ada@a.example.com');
    expect(await details({ ...row, eventId: 'evt_gone' as EventId })).toEqual(nobody);
    expect(await details(rowOf(event, 'eve@a.example.com'))).toEqual(nobody);
  });
});
