import type { Delivery, DeliveryState } from '@carillon/domain/deliveries';
import { findAsked } from './asking.ts';
import type { PartnerSide } from './cuts.ts';
import { findDeadLetters, slotName } from '../harness/audit.ts';
import { findDoubts, type MailSide } from './doubts.ts';
import type { Evidence } from '../harness/evidence.ts';
import { findingsOf, type Finding } from '../harness/promises.ts';
import { judgeFacts } from '../harness/verdict.ts';
import type { Acknowledged } from './posts.ts';
import { eventsOf, type Promised } from './promised.ts';
import { SETTLED_WITHIN } from './settle.ts';
import { deliveryIdOf, tolerancesOf } from './kill-tolerance.ts';

/** What a crash run was, apart from what it left behind. */
export type Course = Promised &
  MailSide & {
    readonly partner: PartnerSide;
    /** From the last fault, or the last 202 where that came later, until it was at rest; left out: nobody measured it. */
    readonly settledAfter?: number;
    /** What nobody had done when nothing moved any more in the running product; left out: nobody looked. */
    readonly leftOpen?: readonly string[];
    /** How deliveries of an event have to stand in the end, whatever came in between; left out: any end will do. */
    readonly fates?: readonly Fate[];
    /** What Twilio reported as delivered, by the subject of the message; left out: nothing. */
    readonly reports?: Reports;
  };

/** Messages for which the report `delivered` was answered, and those for which it was made at all. */
export type Reports = { readonly answered: ReadonlySet<string>; readonly said: ReadonlySet<string> };

/** By what somebody reported or wished, and was told that it is taken. */
export type Fate = { readonly eventId: string; readonly state: DeliveryState };

/** Ends in which somebody is not told who was to be; the latter two have a cause outside of the product, or are its mistake. */
const UNTOLD: ReadonlySet<DeliveryState> = new Set(['SUPPRESSED', 'EXPIRED', 'FAILED', 'CANCELLED']);
const CAUSED: ReadonlySet<DeliveryState> = new Set(['FAILED', 'CANCELLED']);

/** Compares what the product left behind with the promises, and with the books of mail server and partner. */
export function judge(course: Course, evidence: Evidence): readonly Finding[] {
  const [events, ofChanges] = eventsOf(course, evidence);
  const slack = tolerancesOf(course, evidence);
  const acknowledged = events.map(({ eventId }) => eventId);
  return [
    ...ofChanges,
    ...judgeFacts({ evidence, acknowledged, taken: course.mail.map(deliveryIdOf) }),
    ...findLost(events, evidence),
    ...findTwice(course, evidence),
    ...findAsked(course.partner, evidence, slack.ofCalls),
    // Also what a stop or a start would have set right.
    ...findingsOf(
      'stuck',
      (course.leftOpen ?? []).map((what) => `nothing moves any more: ${what}`),
    ),
    ...findLate(course.settledAfter ?? 0, 'at rest'),
    ...findDoubts(course, evidence, slack.ofMails),
    ...findUntrue(events, course, evidence),
    ...findOtherwise(course, evidence),
    ...findUnreported(course, evidence),
    ...findDeadLetters(evidence, new Set(events.filter(({ parks }) => parks).map(({ eventId }) => eventId))),
  ];
}

/** Events on the log that did not lead to their message. */
function findLost(events: readonly Acknowledged[], evidence: Evidence): readonly Finding[] {
  const intents = new Map(evidence.intents.map((intent) => [intent.eventId as string, intent]));
  const answered = new Set(evidence.lookups.map(({ lookup }) => lookup.trigger.eventId as string));
  const bySlot = new Map(evidence.deliveries.map((delivery) => [slotName(delivery.slot), delivery]));
  const logged = new Set(evidence.events.values());
  const unread = evidence.unread.length === 0 ? '' : ` (not read: ${evidence.unread.join(', ')})`;

  function whyLost(event: Acknowledged): string | undefined {
    if (!logged.has(event.eventId)) return undefined;
    const intent = intents.get(event.eventId);
    if (event.asks !== answered.has(event.eventId)) {
      return event.asks
        ? `no answer of the partner is on the log${unread}`
        : 'the partner was asked, though nobody was to ask';
    }
    if (!event.fires) return intent && 'an intent came of it, though it fires nothing';
    if (!intent) return `no intent came of it${unread}`;
    const holder = bySlot.get(slotName(intent.slot));
    if (!holder?.judged.includes(intent.id)) return `nobody has its intent in custody${unread}`;
    const allowed = event.to === null || (event.mayFail && CAUSED.has(holder.state));
    if (!allowed && UNTOLD.has(holder.state)) return `it is ${holder.state} (${holder.reason})`;
    if (holder.intent.id !== intent.id && !isToldAsDuplicate(holder, intent.id, evidence)) {
      return 'another event has its slot, and nothing says that it is a duplicate';
    }
    return undefined;
  }
  return events.flatMap((event): Finding[] => {
    const why = whyLost(event);
    return why === undefined ? [] : [{ kind: 'lost', what: `${event.eventId} (${event.subject}): ${why}` }];
  });
}

const isToldAsDuplicate = (holder: Delivery, intentId: string, { outcomes }: Evidence): boolean =>
  [...outcomes, ...holder.unpublished].some(
    (outcome) => outcome.intentId === intentId && outcome.deliveryId === holder.id && outcome.state === 'SUPPRESSED',
  );

function countBy<Item>(items: readonly Item[], nameOf: (item: Item) => string): ReadonlyMap<string, number> {
  const counts = new Map<string, number>();
  for (const item of items) counts.set(nameOf(item), (counts.get(nameOf(item)) ?? 0) + 1);
  return counts;
}

/** Each message that is due has a subject of its own, and an event makes one intent, evaluated again or not. */
function findTwice({ mail }: Course, { intents }: Evidence): readonly Finding[] {
  const distinct = [...new Map(intents.map((intent) => [intent.id, intent])).values()];
  const counts = [
    ...countBy(mail, (entry) => `subject ${entry.subject}`),
    ...countBy(distinct, ({ eventId }) => `event ${eventId}`),
  ];
  return counts
    .filter(([, times]) => times > 1)
    .map(([name, times]) => ({ kind: 'twice', what: `${name}: ${times} messages` }));
}

/** `after` in milliseconds from the last fault, or the last 202 where that came later. */
export function findLate(after: number, what: string): readonly Finding[] {
  if (after <= SETTLED_WITHIN) return [];
  return [{ kind: 'late', what: `${what} ${after} ms after the last fault, ${SETTLED_WITHIN} ms are promised` }];
}

/** Each message went to the person that it was for, and each event on the log was posted. */
function findUntrue(
  events: readonly Acknowledged[],
  { mail }: Course,
  { changes, events: logged }: Evidence,
): readonly Finding[] {
  // Changes that nobody said are found where changes are held against what was said (promised.ts).
  const said = new Set([...events, ...changes].map(({ eventId }) => eventId));
  const unsaid = [...new Set(logged.values())]
    .filter((eventId) => !said.has(eventId))
    .map((eventId): Finding => ({ kind: 'untrue', what: `${eventId} is on the log, and nobody said so` }));
  const customers = new Map<string, Set<string>>();
  for (const { subject, to, fires } of events) {
    if (fires && to !== null) customers.set(subject, (customers.get(subject) ?? new Set()).add(to));
  }
  const ofMail = mail.flatMap((entry): Finding[] => {
    const right = entry.to.length === 1 && customers.get(entry.subject)?.has(entry.to[0] ?? '');
    return right
      ? []
      : [{ kind: 'untrue', what: `${deliveryIdOf(entry)} (${entry.subject}) went to ${entry.to.join(', ')}` }];
  });
  return [...unsaid, ...ofMail];
}

/** What was reported and answered counts, and what nobody proved does not. */
function findOtherwise({ fates = [] }: Course, { deliveries, intents }: Evidence): readonly Finding[] {
  return fates.flatMap(({ eventId, state }): Finding[] => {
    const intent = intents.find((one) => one.eventId === eventId);
    const found = deliveries.find(({ judged }) => intent !== undefined && judged.includes(intent.id));
    return found?.state === state
      ? []
      : [{ kind: 'untrue', what: `${eventId} has to be ${state}, and is ${found?.state ?? 'nowhere'}` }];
  });
}

const NOTHING_REPORTED: Reports = { answered: new Set(), said: new Set() };

/** A report that was answered moves its delivery, and nothing else does. */
function findUnreported({ reports = NOTHING_REPORTED, mail }: Course, { deliveries }: Evidence): readonly Finding[] {
  const texted = new Set(mail.filter((entry) => 'channel' in entry && entry.channel === 'sms').map(deliveryIdOf));
  return deliveries.flatMap(({ id, state, slot: { uniqueId } }): Finding[] => {
    if (!texted.has(id)) return [];
    if (reports.answered.has(uniqueId) && state !== 'DELIVERED') {
      return [{ kind: 'lost', what: `${id} was reported as delivered, and is ${state}` }];
    }
    return state === 'DELIVERED' && !reports.said.has(uniqueId)
      ? [{ kind: 'untrue', what: `${id} is DELIVERED, and nobody reported it` }]
      : [];
  });
}
