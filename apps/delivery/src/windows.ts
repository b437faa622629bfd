import type { Delivery } from '@carillon/domain/deliveries';
import { headDueAt, type DigestHead } from '@carillon/domain/digests';
import { startScheduler, type WorkPolicy } from '@carillon/runtime';
import { closeWindows, type DigestPorts } from '@carillon/stages';
import type { Duration, Instant } from '@carillon/kernel';
import type { WorkShare } from './work-share.ts';

const LANE = 'windows';
/** Windows that are closed or emptied at once. */
const PLACES = 8;
const MAX_BYTES = 16 * 1024 * 1024;
const HEAD_BYTES = 1000;
const ITEM_BYTES = 150;
const PAGE = 100;
/** The store is asked at least this often. */
const POLL: Duration = 1000;
/** Waiting time after which a window of another process counts as abandoned. */
const ABANDONED: Duration = 10_000;

/** Whether two items go into the same digest, without making the name of its head. */
export const sharesDigest = ({ slot, intent }: Delivery, other: Delivery): boolean =>
  slot.notificationId === other.slot.notificationId &&
  slot.workspace === other.slot.workspace &&
  slot.channel === other.slot.channel &&
  intent.to === other.intent.to &&
  intent.digestKey === other.intent.digestKey &&
  intent.person === other.intent.person;

export type Windows = { stop(deadline: Instant): Promise<void> };

/**
 * Closes due windows and empties closed ones, alternating between workspaces. Each process starts with its own share;
 * if two work on one head, they only waste work.
 */
export function startWindows(
  ports: DigestPorts,
  share: Pick<WorkShare, 'hasDigestHead'>,
  trouble: (where: string, error: unknown) => void,
): Windows {
  const { clock, digestHeads } = ports;
  const policy: WorkPolicy<DigestHead> = {
    idOf: ({ id }) => id,
    bytesOf: ({ items, closing }) => HEAD_BYTES + ITEM_BYTES * (items.length + (closing?.items.length ?? 0)),
    ownerOf: ({ workspace }) => workspace,
    laneOf: () => LANE,
    bounds: { bytes: MAX_BYTES },
    limits: () => ({ places: PLACES, ahead: 0, settling: PLACES, held: Number.POSITIVE_INFINITY }),
    async run(_lane, [head]) {
      if (head) await closeWindows(head, false, ports);
      return [];
    },
    async read() {
      const now = clock.now();
      for (const workspace of await digestHeads.dueWorkspaces(now)) {
        const page = await digestHeads.due(workspace, now, PAGE);
        const own = page.filter(share.hasDigestHead);
        const abandoned = page.filter((head) => (headDueAt(head) ?? now) <= now - ABANDONED);
        const added = scheduler.enter(own.length > 0 ? own : abandoned);
        scheduler.leftInStore(workspace, page.length === PAGE || added.includes('full'));
      }
      const next = await digestHeads.nextDueAt(now + POLL);
      if (next === null || next <= now) return POLL;
      return Math.min(POLL, Math.max(10, next - clock.now()));
    },
    readOnBelow: 1,
  };
  const scheduler = startScheduler(policy, { clock, changed: () => undefined, trouble });
  return {
    async stop(deadline) {
      await scheduler.stop(deadline);
    },
  };
}
