import type { PastMessage } from '@carillon/domain/cadence';
import { findResource, localityOf, notificationIdOf, type Configuration } from '@carillon/domain/configuration';
import type { Delivery } from '@carillon/domain/deliveries';
import type { Instant } from '@carillon/kernel';
import type { ControlPorts } from '../ports.ts';

/** Most messages that are sent again: the newest. */
export const MAX_SIMULATED = 10_000;
/** Reading ends after so many messages, those that would be left out again among them. */
const MAX_LOOKED_AT = 2 * MAX_SIMULATED;
const PAGE = 500;

export type History = {
  readonly messages: readonly PastMessage[];
  /** True where there were more. */
  readonly isSample: boolean;
};

/**
 * Reasons of suppressed messages that the simulation decides again. Messages suppressed for other reasons are left out.
 */
const KEPT_REASONS: ReadonlySet<string> = new Set(['quiet_hours', 'capped']);
function wouldGo({ state, reason, intent }: Delivery): boolean {
  if (intent.test !== undefined || intent.digest !== undefined || intent.to === null) return false;
  if (state === 'SUPPRESSED') return KEPT_REASONS.has(reason);
  return state !== 'CANCELLED' && state !== 'FAILED';
}

function pastOf({ id, slot, intent }: Delivery, configuration: Configuration): PastMessage {
  const { locality } = localityOf(configuration, slot.workspace, intent.variables);
  return {
    deliveryId: id,
    triggerId: intent.triggerId,
    notificationId: slot.notificationId,
    channel: slot.channel,
    person: intent.person,
    zone: locality.timeZone,
    causedAt: intent.causedAt,
    sendAt: intent.sendAt,
    meets: JSON.stringify([intent.person, intent.to, intent.digestKey]),
  };
}

/** Returns the newest messages since a time, of one notification or of the whole workspace. */
export async function historyOf(
  workspace: string,
  notification: string | undefined,
  since: Instant,
  configuration: Configuration,
  { ledger, slice }: Pick<ControlPorts, 'ledger' | 'slice'>,
): Promise<History> {
  const filter = { workspace, since, ...(notification !== undefined && { notification }) };
  const messages: PastMessage[] = [];
  let looked = 0;
  let cursor: string | undefined;
  do {
    // A store of this machine answers at once: others go on in between.
    if (slice.isExpired()) await slice.yield();
    const { items, next } = await ledger.list(filter, PAGE, cursor);
    looked += items.length;
    messages.push(...items.filter(wouldGo).map((delivery) => pastOf(delivery, configuration)));
    cursor = next ?? undefined;
  } while (cursor !== undefined && messages.length < MAX_SIMULATED && looked < MAX_LOOKED_AT);
  const isSample = cursor !== undefined || messages.length > MAX_SIMULATED;
  return { messages: messages.slice(0, MAX_SIMULATED).toReversed(), isSample };
}

/** The id by which messages know a notification. */
export function idOfNotification(configuration: Configuration, workspace: string, name: string): string | undefined {
  const found = findResource(configuration, 'notification', workspace, name);
  return found && notificationIdOf(found);
}
