import { notificationIdOf, ruleIdOf } from '@carillon/domain/configuration';
import { givesSlotAway, type Delivery, type Intent } from '@carillon/domain/deliveries';
import type { Trigger } from '@carillon/domain/lookups';
import { CarillonError, type DeliveryId, type JobId } from '@carillon/kernel';
import type { BookRule } from '@carillon/stages';
import type { ControlPorts } from '../ports.ts';

type Ports = Pick<ControlPorts, 'ledger'>;

/** Deliveries of one event to one person that are looked at. */
const MAX_OF_PERSON = 500;

/** Resolves to true if a delivery ended unsent and gives its slot to another intent. */
export async function givesAway(holder: Delivery, { ledger }: Ports): Promise<boolean> {
  const digest = holder.digestedIn === undefined ? null : await ledger.get(holder.digestedIn);
  return givesSlotAway(holder, digest);
}

/**
 * Rejects with `conflict` if the person has a message about this event under another `unique_id`. `slots` are those that the event has under
 * the present rule.
 */
export async function refuseNotified(
  intent: Intent,
  slots: Pick<ReadonlySet<DeliveryId>, 'has'>,
  ports: Ports,
): Promise<void> {
  const { eventId, person, slot } = intent;
  const { items } = await ports.ledger.list({ workspace: slot.workspace, eventId, person }, MAX_OF_PERSON);
  for (const other of items) {
    const isSame = other.slot.notificationId === slot.notificationId && other.slot.channel === slot.channel;
    // The items of a digest are deliveries of their own.
    if (!isSame || other.intent.digest || slots.has(other.id) || (await givesAway(other, ports))) continue;
    const detail = `not sent, because the person has a message about this event under another unique_id: ${other.id} is ${other.state}`;
    throw new CarillonError('conflict', detail);
  }
}

/**
 * Rejects with `conflict` if the event has a message of the trigger's rule, or of a rule that its notification no longer has, because the
 * partner's answer may give the same person a second message. Messages of the job itself do not count, so that an item can be
 * repeated. `rules` are the rules of the event's stream.
 */
export async function refuseAnswered(
  { eventId, rule, ruleId }: Trigger,
  rules: readonly BookRule[],
  job: JobId,
  ports: Ports,
): Promise<void> {
  const notification = rules.find(({ placed }) => ruleIdOf(placed) === ruleId)?.placed.notification;
  const others = new Set(rules.map(({ placed }) => ruleIdOf(placed)).filter((id) => id !== ruleId));
  for (const other of await ports.ledger.byEvent(eventId)) {
    const isSame = notification && other.slot.notificationId === notificationIdOf(notification);
    if (!isSame || others.has(other.intent.ruleId) || other.intent.digest) continue;
    if (other.intent.sentBy?.job === job || (await givesAway(other, ports))) continue;
    const why = `its answer may give the same person a second message: ${other.id} is ${other.state}`;
    throw new CarillonError(
      'conflict',
      `the partner was not asked about event ${eventId} for rule ${rule}, because ${why}`,
    );
  }
}
