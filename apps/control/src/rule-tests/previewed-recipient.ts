import type { RuleTestBody } from '@carillon/contracts';
import type { PlacedRule } from '@carillon/domain/configuration';
import { givesSlotAway, type Intent } from '@carillon/domain/deliveries';
import type { SourceEvent } from '@carillon/domain/events';
import type { Recipient } from '@carillon/domain/rules';
import { personName } from '@carillon/insight';
import { stringifyJson, type TriggerId } from '@carillon/kernel';
import { causeOfEvent, deliveryIdOf, makeIntents, type FiringTime } from '@carillon/stages';
import type { RuleTestPorts } from './rule-test-ports.ts';
import { previewIntent } from '../preview.ts';

/** A rule that fired in a test. `taken` holds the slots of messages of earlier steps, as text, and gains those of this step. */
export type Firing = {
  readonly placed: PlacedRule;
  readonly event: SourceEvent;
  readonly triggerId: TriggerId;
  readonly when: FiringTime;
  readonly taken: Set<string>;
};

/** Renders the messages of one recipient with the code that renders real messages. */
export async function previewRecipient(
  { placed, event, triggerId, when, taken }: Firing,
  recipient: Recipient,
  ports: RuleTestPorts,
): Promise<RuleTestBody['recipients'][number]> {
  const configuration = ports.configuration.current();
  const intents = makeIntents(placed, causeOfEvent(event, placed, when), recipient, triggerId, {
    configuration,
    book: ports.book,
    derive: ports.ids.derive,
  });
  const messages = [];
  const holders: (string | null)[] = [];
  for (const intent of intents) {
    holders.push(await holderOf(intent, ports));
    messages.push(await previewIntent(intent, placed.notification, ports));
  }
  // A message without an address would not be sent anyway.
  const addressed = intents.filter(({ to }) => to !== null);
  const isTaken = (intent: Intent): boolean => holders[intents.indexOf(intent)] !== null || taken.has(slotText(intent));
  const notifiedAlready = addressed.length > 0 && addressed.every(isTaken);
  for (const intent of addressed) taken.add(slotText(intent));
  const addresses = Object.values(recipient.to).filter((address) => address !== null);
  return {
    to: { ...recipient.to },
    unique_id: recipient.uniqueId,
    person: recipient.person,
    variables: stringifyJson(recipient.variables),
    messages,
    name: personName(event.body, recipient.variables, addresses),
    already_told: holders.find((holder) => holder !== null) ?? null,
    notified_already: notifiedAlready,
  };
}

const slotText = ({ slot }: Intent): string => JSON.stringify([slot.notificationId, slot.channel, slot.uniqueId]);

/** The delivery that holds the slot of an intent and does not give it away. Null: the intent would be sent. */
async function holderOf(
  intent: Intent,
  { ids, ledger }: Pick<RuleTestPorts, 'ids' | 'ledger'>,
): Promise<string | null> {
  const holder = await ledger.get(deliveryIdOf(intent, ids));
  if (!holder) return null;
  const digest = holder.digestedIn === undefined ? null : ((await ledger.get(holder.digestedIn)) ?? null);
  // If the slot's holder has the same intent id, this event made it. The same event never sends again.
  return holder.intent.id !== intent.id && givesSlotAway(holder, digest) ? null : holder.id;
}
