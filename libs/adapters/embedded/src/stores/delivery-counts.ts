import { setImmediate as others } from 'node:timers/promises';
import { DELIVERY_STATES, type DeliveryState } from '@carillon/domain';
import type { Instant } from '@carillon/kernel';
import type { DeliveryLedger, DeliverySpan, StateCount } from '@carillon/ports';
import type { Reader } from '../reader.ts';

/** Of a span whose deliveries are counted by notification or by people: a day of a million in one go would hold everybody up for a second. */
const PARTS = 24;

function partsOf({ since, before }: DeliverySpan): readonly { readonly from: Instant; readonly until: Instant }[] {
  const part = Math.max(1, Math.ceil((before - since) / PARTS));
  const count = Math.ceil((before - since) / part);
  return Array.from({ length: count }, (_, at) => {
    const from = since + at * part;
    return { from, until: Math.min(from + part, before) };
  });
}

/**
 * What is counted over time. Each question is about one state and one part of the span, along an index that holds all that is counted: the
 * process goes on with other work between two of them.
 */
export const deliveryCounts = (
  reader: Reader,
): Pick<DeliveryLedger, 'countOverTime' | 'countByNotification' | 'countPeople'> => ({
  async countOverTime({ workspace, since, before, notification }, part) {
    const counts: StateCount[] = [];
    const only = notification === undefined ? '' : 'AND notification = ?';
    const named = notification === undefined ? [] : [notification];
    for (let at = since - (since % part); at < before; at += part) {
      const [from, until] = [Math.max(at, since), Math.min(at + part, before)];
      for (const state of DELIVERY_STATES) {
        const { deliveries } = reader.get(
          `SELECT count(*) AS deliveries FROM deliveries INDEXED BY deliveries_state
           WHERE workspace = ? AND state = ? AND created_at >= ? AND created_at < ? ${only}`,
          workspace,
          state,
          from,
          until,
          ...named,
        ) as { readonly deliveries: number };
        if (deliveries > 0) counts.push({ at, state, deliveries });
      }
      await others();
    }
    return counts;
  },
  async countByNotification(span) {
    const counted = new Map<string, { notification: string; state: DeliveryState; deliveries: number }>();
    for (const state of DELIVERY_STATES) {
      for (const { from, until } of partsOf(span)) {
        const rows = reader.all(
          `SELECT notification, count(*) AS deliveries FROM deliveries INDEXED BY deliveries_state
           WHERE workspace = ? AND state = ? AND created_at >= ? AND created_at < ? GROUP BY notification`,
          span.workspace,
          state,
          from,
          until,
        ) as { readonly notification: string; readonly deliveries: number }[];
        for (const { notification, deliveries } of rows) {
          const key = JSON.stringify([state, notification]);
          const sum = (counted.get(key)?.deliveries ?? 0) + deliveries;
          counted.set(key, { notification, state, deliveries: sum });
        }
        // An empty part costs nothing that others would wait for.
        if (rows.length > 0) await others();
      }
    }
    return [...counted.values()];
  },
  async countPeople(span, states) {
    // Each once, in whatever parts they are. To tell them apart in the database takes twice as long, in one go; so does one row for each.
    const people = new Set<string>();
    for (const { from, until } of partsOf(span)) {
      const { found } = reader.get(
        `SELECT json_group_array(person) AS found FROM deliveries INDEXED BY deliveries_state
         WHERE workspace = ? AND state IN (SELECT value FROM json_each(?)) AND created_at >= ? AND created_at < ? AND person IS NOT NULL`,
        span.workspace,
        JSON.stringify(states),
        from,
        until,
      ) as { readonly found: string };
      const some = JSON.parse(found) as readonly string[];
      for (const person of some) people.add(person);
      if (some.length > 0) await others();
    }
    return people.size;
  },
});
