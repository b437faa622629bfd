import type { Outcome } from '@carillon/domain/deliveries';
import type { Instant } from '@carillon/kernel';
import { decodeRecords } from '@carillon/stages';
import { z } from 'zod';
import { showDelivery, showDuplicate } from '../bodies.ts';
import type { ControlPorts } from '../ports.ts';
import { newestRows } from './newest-rows.ts';
import type { LiveItem, LiveSource } from './source.ts';

type Ports = Pick<ControlPorts, 'ledger' | 'log' | 'codecs'>;
const TOPIC = 'carillon.outcomes';
/** Maximum records per poll. If there are more, clients read their lists again. */
const MAX_RECORDS = 1_000;
/** Documents of one look. */
const MAX_MOVED = 200;
const READ_BATCH_SIZE = 20;

const position = z.object({ at: z.number().int(), offsets: z.array(z.number().int().min(0)) });
type Position = { readonly at: Instant; readonly offsets: readonly number[] };

/**
 * Follows changes of deliveries: new ones from the newest rows of the ledger, moves of old ones from the log. Always
 * sends the current document.
 */
export function movedDeliveries(workspace: string | null, ports: Ports): LiveSource<Position> {
  const { ledger, log } = ports;
  const isHere = (one: string): boolean => workspace === null || one === workspace;
  const filter = workspace === null ? {} : { workspace };
  const made = newestRows({
    read: (limit, cursor) => ledger.list(filter, limit, cursor),
    at: ({ createdAt }) => createdAt,
    touched: ({ updatedAt }) => updatedAt,
    key: ({ id }) => id,
    show: (delivery) => ({ workspace: delivery.slot.workspace, body: showDelivery(delivery) }),
  });
  const partitions = (): readonly number[] => Array.from({ length: log.partitions(TOPIC) }, (_, at) => at);

  /** Returns the outcomes on the log from these offsets on. Null if there are too many or retention removed some. */
  async function outcomesFrom(offsets: readonly number[]) {
    const bounds = await Promise.all(partitions().map((one) => log.bounds(TOPIC, one)));
    const ends = bounds.map(({ end }) => end);
    const isHeld = bounds.every(({ start, end }, at) => {
      const from = offsets[at] ?? -1;
      return from >= start && from <= end;
    });
    const count = ends.reduce((sum, end, at) => sum + end - (offsets[at] ?? 0), 0);
    if (!isHeld || offsets.length !== ends.length || count > MAX_RECORDS) return { outcomes: null, ends };
    const outcomes: Outcome[] = [];
    const reached = [...offsets];
    for (const [partition, end] of ends.entries()) {
      const from = reached[partition] ?? 0;
      if (from >= end) continue;
      const records = await log.read(TOPIC, partition, from, end - from);
      for (const { decoded } of await decodeRecords(ports.codecs.outcome, records)) {
        if (decoded.ok && isHere(decoded.value.workspace)) outcomes.push(decoded.value);
      }
      reached[partition] = (records.at(-1)?.offset ?? from - 1) + 1;
    }
    return { outcomes, ends: reached };
  }

  async function shownOf(outcomes: readonly Outcome[]): Promise<readonly LiveItem[]> {
    const items: LiveItem[] = [];
    const ids = [...new Set(outcomes.map(({ deliveryId }) => deliveryId))];
    for (let at = 0; at < ids.length; at += READ_BATCH_SIZE) {
      const some = ids.slice(at, at + READ_BATCH_SIZE);
      for (const delivery of await Promise.all(some.map((id) => ledger.get(id)))) {
        if (!delivery) continue;
        const place = { workspace: delivery.slot.workspace };
        items.push({ ...place, key: delivery.id, body: showDelivery(delivery) });
        // A duplicate is a row of its own.
        for (const one of outcomes) {
          if (one.deliveryId !== delivery.id || one.reason !== 'duplicate') continue;
          items.push({ ...place, key: one.id, body: showDuplicate(one, delivery) });
        }
      }
    }
    return items;
  }

  return {
    async begin() {
      const ends = await Promise.all(partitions().map(async (one) => (await log.bounds(TOPIC, one)).end));
      return { at: await made.begin(), offsets: ends };
    },
    async since({ at, offsets }, isKnown, known) {
      // The log first: a delivery that is made in between is among the newest rows all the same.
      const { outcomes, ends } = await outcomesFrom(offsets);
      const newest = await made.since(at, isKnown, known);
      const moved = outcomes ?? [];
      const isWhole =
        newest.isWhole && outcomes !== null && new Set(moved.map((one) => one.deliveryId)).size <= MAX_MOVED;
      const items = isWhole ? [...newest.items, ...(await shownOf(moved))] : newest.items;
      return { items, isWhole, position: { at: newest.position, offsets: ends } };
    },
    read: (text) => position.safeParse(text).data ?? null,
  };
}
