import { setImmediate as others } from 'node:timers/promises';
import { DELIVERY_STATES, type DeliveryState } from '@carillon/domain';
import type { DeliveryLedger, StateCount } from '@carillon/ports';
import type { Reader } from '../reader.ts';

/** Of a span whose deliveries are counted by their notification: a day of a million would hold everybody up for a third of a second. */
const PARTS = 24;

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
  async countByNotification({ workspace, since, before }) {
    const counted = new Map<string, { notification: string; state: DeliveryState; deliveries: number }>();
    const part = Math.max(1, Math.ceil((before - since) / PARTS));
    for (const state of DELIVERY_STATES) {
      for (let from = since; from < before; from += part) {
        const rows = reader.all(
          `SELECT notification, count(*) AS deliveries FROM deliveries INDEXED BY deliveries_state
           WHERE workspace = ? AND state = ? AND created_at >= ? AND created_at < ? GROUP BY notification`,
          workspace,
          state,
          from,
          Math.min(from + part, before),
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
  async countPeople({ workspace, since, before }, states) {
    const { people } = reader.get(
      `SELECT count(DISTINCT person) AS people FROM deliveries INDEXED BY deliveries_state
       WHERE workspace = ? AND state IN (SELECT value FROM json_each(?)) AND created_at >= ? AND created_at < ?`,
      workspace,
      JSON.stringify(states),
      since,
      before,
    ) as { readonly people: number };
    return people;
  },
});
