import { TERMINAL_STATES, type Delivery, type DeliveryState, type Evaluation } from '@carillon/domain';
import type { LedgerEntry } from '@carillon/testing';
import { findAsked, type PartnerSide } from './asking.ts';
import type { Evidence } from './evidence.ts';
import type { Acknowledged } from './posts.ts';
import { eventsOf, type Promised } from './promises.ts';

/** What a crash run was, apart from what it left behind. */
export type Course = Promised & {
  /** The mail server's book: what it took, whatever the product believes. */
  readonly mail: readonly LedgerEntry[];
  /** The most calls to the mail server that can have been under way at all kills together. */
  readonly callsAtKills: number;
  /** Answers of the mail server that were taken away from the product, beyond those that the server never gave. */
  readonly answersLost?: number;
  readonly partner: PartnerSide;
};

/**
 * A broken promise. `lost`: an acknowledged event or change of which nothing tells any more. `twice`: somebody was told
 * twice. `asked`: a partner was asked again without need. `stuck`: nothing goes on by itself. `doubt`: more doubts than
 * unanswered calls. `untrue`: the product says other than mail server or partner. `gap`: the record of what was done has
 * a hole.
 */
export type Finding = {
  readonly kind: 'lost' | 'twice' | 'asked' | 'stuck' | 'doubt' | 'untrue' | 'gap';
  readonly what: string;
};

const MAIL_SENT: ReadonlySet<DeliveryState> = new Set(['SENT', 'IN_DOUBT']);
const deliveryIdOf = (entry: LedgerEntry): string => /^<(dlv_[^.]+)\./.exec(entry.message_id ?? '')?.[1] ?? '';

/** Ends in which somebody is not told who was to be; the latter two have a cause outside of the product, or are its mistake. */
const UNTOLD: ReadonlySet<DeliveryState> = new Set(['SUPPRESSED', 'EXPIRED', 'FAILED', 'CANCELLED']);
const CAUSED: ReadonlySet<DeliveryState> = new Set(['FAILED', 'CANCELLED']);

/** Holds what the product left behind against what was promised, and what mail server and partner have in their books. */
export function judge(course: Course, evidence: Evidence): readonly Finding[] {
  const [events, ofChanges] = eventsOf(course, evidence);
  return [
    ...ofChanges,
    ...findLost(events, course, evidence),
    ...findTwice(course, evidence),
    ...findAsked(course.partner, evidence),
    ...findStuck(evidence),
    ...findDoubts(course, evidence),
    ...findUntrue(events, course, evidence),
    ...findGaps(events, evidence),
  ];
}

const slotName = ({ notificationId, uniqueId }: Delivery['slot']): string => `${notificationId} ${uniqueId}`;

function findLost(events: readonly Acknowledged[], { mail }: Course, evidence: Evidence): readonly Finding[] {
  const intents = new Map(evidence.intents.map((intent) => [intent.eventId as string, intent]));
  const answered = new Set(evidence.lookups.map(({ lookup }) => lookup.trigger.eventId as string));
  const bySlot = new Map(evidence.deliveries.map((delivery) => [slotName(delivery.slot), delivery]));
  const mailed = new Set(mail.map(deliveryIdOf));
  const unread = evidence.unread.length === 0 ? '' : ` (not read: ${evidence.unread.join(', ')})`;

  function whyLost(event: Acknowledged): string | undefined {
    if (!evidence.events.has(event.eventId)) return 'it is not on the log';
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
    if (holder.state === 'SENT' && !mailed.has(holder.id)) return 'it counts as sent, and the mail server has nothing';
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

/**
 * By the delivery that the Message-ID names, and by the subject, which is one for each that is to be told: two views of one
 * promise. And before anything is sent: an event makes one message, done over or not.
 */
function findTwice({ mail }: Course, { intents }: Evidence): readonly Finding[] {
  const distinct = [...new Map(intents.map((intent) => [intent.id, intent])).values()];
  const counts = [
    ...countBy(mail, deliveryIdOf),
    ...countBy(mail, (entry) => `subject ${entry.subject}`),
    ...countBy(distinct, ({ eventId }) => `event ${eventId}`),
  ];
  return counts
    .filter(([, times]) => times > 1)
    .map(([name, times]) => ({ kind: 'twice', what: `${name}: ${times} messages` }));
}

const findStuck = ({ deliveries, unread }: Evidence): readonly Finding[] => [
  ...deliveries
    .filter(({ state }) => !TERMINAL_STATES.has(state) && state !== 'IN_DOUBT')
    .map(({ id, state, reason }): Finding => ({ kind: 'stuck', what: `${id} is ${state} (${reason})` })),
  ...unread.map((what): Finding => ({ kind: 'stuck', what })),
];

/** A doubt comes from a call that a kill cut off, or from one that the server never answered; from nothing else. */
function findDoubts({ mail, callsAtKills, answersLost = 0 }: Course, { deliveries }: Evidence): readonly Finding[] {
  const doubts = countBy(deliveries, ({ state, reason }) => (state === 'IN_DOUBT' ? reason : ''));
  const drops = mail.filter(({ dropped }) => dropped).length;
  const bounds = [
    ['lease_ran_out', callsAtKills],
    ['answer_unknown', drops + answersLost],
  ] as const;
  return bounds.flatMap(([reason, most]): Finding[] => {
    const found = doubts.get(reason) ?? 0;
    return found > most ? [{ kind: 'doubt', what: `${found} doubts ${reason}, at most ${most} have a cause` }] : [];
  });
}

/** What the mail server took is sent or in doubt, and went to somebody who was to be told; every end was told. */
function findUntrue(
  events: readonly Acknowledged[],
  { mail }: Course,
  { deliveries, outcomes }: Evidence,
): readonly Finding[] {
  const byId = new Map(deliveries.map((delivery) => [delivery.id as string, delivery]));
  const customers = new Map<string, Set<string>>();
  for (const { subject, to, fires } of events) {
    if (fires && to !== null) customers.set(subject, (customers.get(subject) ?? new Set()).add(to));
  }
  const told = new Set(outcomes.map(({ deliveryId, state }) => `${deliveryId} ${state}`));
  const ofMail = mail.flatMap((entry): Finding[] => {
    const delivery = byId.get(deliveryIdOf(entry));
    const name = `${deliveryIdOf(entry)} (${entry.subject})`;
    if (!delivery) return [{ kind: 'untrue', what: `a message of ${name}, which is not in the ledger` }];
    if (!MAIL_SENT.has(delivery.state)) return [{ kind: 'untrue', what: `${name} was taken and is ${delivery.state}` }];
    const right = entry.to.length === 1 && customers.get(entry.subject)?.has(entry.to[0] ?? '');
    return right ? [] : [{ kind: 'untrue', what: `${name} went to ${entry.to.join(', ')}` }];
  });
  const untold = deliveries
    .filter(({ state }) => TERMINAL_STATES.has(state) || state === 'IN_DOUBT')
    .filter(
      ({ id, state, unpublished }) => !told.has(`${id} ${state}`) && unpublished.every((one) => one.state !== state),
    )
    .map(({ id, state }): Finding => ({ kind: 'untrue', what: `${id} is ${state}, and no outcome says so` }));
  return [...ofMail, ...untold];
}

function findGaps(events: readonly Acknowledged[], evidence: Evidence): readonly Finding[] {
  const gaps: Finding[] = evidence.judged.flatMap(({ partition, start, next }): Finding[] => {
    const ranges = evidence.evaluations.filter((one) => one.partition === partition);
    const broken = chainEnd(ranges, start, next);
    return broken === next
      ? []
      : [{ kind: 'gap', what: `evaluations of partition ${partition} end at ${broken} of ${next}` }];
  });
  return [...gaps, ...findLetters(events, evidence)];
}

/** What was given up is what a partner refused, and all of that. */
function findLetters(events: readonly Acknowledged[], { deadLetters }: Evidence): readonly Finding[] {
  const parked = new Set(events.filter(({ parks }) => parks).map(({ eventId }) => eventId));
  const unexpected = deadLetters.filter(({ eventId }) => eventId === null || !parked.has(eventId));
  const told = new Set(deadLetters.map(({ eventId }) => eventId));
  return [
    ...unexpected.map(({ what, eventId }): Finding => ({
      kind: 'gap',
      what: `a dead letter: ${what} ${eventId ?? ''}`,
    })),
    ...[...parked]
      .filter((eventId) => !told.has(eventId))
      .map((eventId): Finding => ({ kind: 'gap', what: `${eventId} was refused, and no dead letter says so` })),
  ];
}

/** How far ranges lead that each begin where another ended. Those of a repeated batch overlap, and may end elsewhere. */
export function chainEnd(ranges: readonly Pick<Evaluation, 'from' | 'to'>[], start: number, end: number): number {
  const reached = new Set([start]);
  for (const { from, to } of ranges.toSorted((a, b) => a.from - b.from)) if (reached.has(from)) reached.add(to);
  return reached.has(end) ? end : Math.max(...reached);
}
