import { setImmediate as others } from 'node:timers/promises';
import { DELIVERY_STATES, type DeliveryState } from '@carillon/domain';
import type { Instant } from '@carillon/kernel';
import type { DeliveryLedger, DeliverySpan, StateCount } from '@carillon/ports';
import type { Reader } from '../reader.ts';
import { conditionsOf } from './conditions.ts';
import { inState } from './delivery-phases.ts';

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

/** The deliveries of a part of a span in one state, as what follows SELECT. */
function fromPart(workspace: string, state: DeliveryState, from: Instant, until: Instant, notification?: string) {
  const { index, condition } = inState(state);
  const { where, values } = conditionsOf([
    ['workspace = ?', workspace],
    condition,
    ['created_at >= ? AND created_at < ?', from, until],
    ['notification = ?', notification],
  ]);
  return { rows: `FROM deliveries ${index} ${where}`, values };
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
    for (let at = since - (since % part); at < before; at += part) {
      const [from, until] = [Math.max(at, since), Math.min(at + part, before)];
      for (const state of DELIVERY_STATES) {
        const { rows, values } = fromPart(workspace, state, from, until, notification);
        const { deliveries } = reader.get(`SELECT count(*) AS deliveries ${rows}`, ...values) as {
          readonly deliveries: number;
        };
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
        const part = fromPart(span.workspace, state, from, until);
        const found = reader.all(
          `SELECT notification, count(*) AS deliveries ${part.rows} GROUP BY notification`,
          ...part.values,
        ) as { readonly notification: string; readonly deliveries: number }[];
        for (const { notification, deliveries } of found) {
          const key = JSON.stringify([state, notification]);
          const sum = (counted.get(key)?.deliveries ?? 0) + deliveries;
          counted.set(key, { notification, state, deliveries: sum });
        }
        // An empty part costs nothing that others would wait for.
        if (found.length > 0) await others();
      }
    }
    return [...counted.values()];
  },
  async countPeople(span, states) {
    // Each once, in whatever parts they are. To tell them apart in the database takes twice as long, in one go; so does one row for each.
    const people = new Set<string>();
    for (const state of states) {
      for (const { from, until } of partsOf(span)) {
        const { rows, values } = fromPart(span.workspace, state, from, until);
        const { found } = reader.get(`SELECT json_group_array(person) AS found ${rows}`, ...values) as {
          readonly found: string;
        };
        const some = JSON.parse(found) as readonly (string | null)[];
        for (const person of some) if (person !== null) people.add(person);
        if (some.length > 0) await others();
      }
    }
    return people.size;
  },
});
