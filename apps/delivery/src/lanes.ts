import type { Delivery } from '@carillon/domain';
import { stringifyJson } from '@carillon/kernel';

type Waiting = { readonly delivery: Delivery; readonly bytes: number };
type Lane = { readonly byWorkspace: Map<string, Waiting[]>; inFlight: number; publishing: number };

/** For each place of an account so many outcomes may be on their way to the log; where that is slow, calls wait for it. */
const PUBLISHING = 8;

/**
 * Deliveries due now, in memory: a lane per provider account, fair turns between the workspaces in it, and one bound in
 * bytes for all. What does not fit stays in the ledger and is read again when there is room.
 */
export function createLanes(maxBytes: number) {
  const lanes = new Map<string, Lane>();
  const known = new Set<string>();
  const publishing = new Set<string>();
  let bytes = 0;

  function laneOf(account: string): Lane {
    let lane = lanes.get(account);
    if (!lane) {
      lane = { byWorkspace: new Map(), inFlight: 0, publishing: 0 };
      lanes.set(account, lane);
    }
    return lane;
  }

  return {
    /** False: no room, or it is here or under way already. */
    add(account: string, delivery: Delivery): boolean {
      if (known.has(delivery.id)) return false;
      const size = 1000 + stringifyJson(delivery.intent.variables).length;
      if (bytes + size > maxBytes && known.size > 0) return false;
      const lane = laneOf(account);
      const queue = lane.byWorkspace.get(delivery.slot.workspace) ?? [];
      queue.push({ delivery, bytes: size });
      lane.byWorkspace.set(delivery.slot.workspace, queue);
      known.add(delivery.id);
      bytes += size;
      return true;
    },
    /** The next delivery of a lane with a free place, if any: each workspace in turn. It counts as under way from now. */
    take(account: string, capacity: number): Delivery | undefined {
      const lane = lanes.get(account);
      if (!lane || lane.inFlight >= capacity || lane.publishing >= capacity * PUBLISHING) return undefined;
      for (const [workspace, queue] of lane.byWorkspace) {
        const next = queue.shift();
        // To the end of the map, so that every other workspace has its turn first.
        lane.byWorkspace.delete(workspace);
        if (queue.length > 0) lane.byWorkspace.set(workspace, queue);
        if (!next) continue;
        lane.inFlight += 1;
        bytes -= next.bytes;
        return next.delivery;
      }
      return undefined;
    },
    /** What came of its call is in the ledger: another may have its place while the outcome goes to the log. */
    called(account: string, id: string): void {
      const lane = laneOf(account);
      lane.inFlight -= 1;
      lane.publishing += 1;
      publishing.add(id);
    },
    /** It is no longer under way, called or not. */
    done(account: string, id: string): void {
      const lane = laneOf(account);
      if (publishing.delete(id)) lane.publishing -= 1;
      else lane.inFlight -= 1;
      known.delete(id);
    },
    accounts: (): readonly string[] => [...lanes.keys()],
    has: (id: string): boolean => known.has(id),
    /** How many have no place yet. */
    waiting: (): number => {
      const begun = [...lanes.values()].reduce((sum, lane) => sum + lane.inFlight + lane.publishing, 0);
      return known.size - begun;
    },
    bytes: (): number => bytes,
    full: (): boolean => bytes >= maxBytes * 0.9,
  };
}
