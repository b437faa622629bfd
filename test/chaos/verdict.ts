import { TERMINAL_STATES, type Delivery, type DeliveryState, type Evaluation } from '@carillon/domain';
import type { LedgerEntry } from '@carillon/testing';
import type { Evidence } from './evidence.ts';
import type { Acknowledged } from './posters.ts';

/** What a crash run was, apart from what it left behind. */
export type Course = {
  readonly acknowledged: readonly Acknowledged[];
  /** The mail server's book: what it took, whatever the product believes. */
  readonly mail: readonly LedgerEntry[];
  /** The most calls that can have been under way at all kills together. */
  readonly callsAtKills: number;
};

/**
 * A broken promise. `lost`: an acknowledged event of which nothing tells any more. `twice`: a customer was told twice.
 * `stuck`: nothing goes on by itself. `doubt`: more doubts than unanswered calls. `untrue`: the product says other
 * than the mail server. `gap`: the record of what was done has a hole.
 */
export type Finding = {
  readonly kind: 'lost' | 'twice' | 'stuck' | 'doubt' | 'untrue' | 'gap';
  readonly what: string;
};

const MAIL_SENT: ReadonlySet<DeliveryState> = new Set(['SENT', 'IN_DOUBT']);
const deliveryIdOf = (entry: LedgerEntry): string => /^<(dlv_[^.]+)\./.exec(entry.message_id ?? '')?.[1] ?? '';

/** Holds what the product left behind against what was promised to the clients and what the mail server took. */
export function judge(course: Course, evidence: Evidence): readonly Finding[] {
  return [
    ...findLost(course, evidence),
    ...findTwice(course),
    ...findStuck(evidence),
    ...findDoubts(course, evidence),
    ...findUntrue(course, evidence),
    ...findGaps(evidence),
  ];
}

function findLost({ acknowledged, mail }: Course, evidence: Evidence): readonly Finding[] {
  const intents = new Map(evidence.intents.map((intent) => [intent.eventId as string, intent]));
  const bySlot = new Map(evidence.deliveries.map((delivery) => [delivery.slot.uniqueId, delivery]));
  const mailed = new Set(mail.map(deliveryIdOf));
  const unread = evidence.unread.length === 0 ? '' : ` (not read: ${evidence.unread.join(', ')})`;

  function whyLost(event: Acknowledged): string | undefined {
    if (!evidence.events.has(event.eventId)) return 'it is not on the log';
    const intent = intents.get(event.eventId);
    if (!event.fires) return intent && 'an intent came of it, though it fires nothing';
    if (!intent) return `no intent came of it${unread}`;
    const holder = bySlot.get(event.uniqueId);
    if (!holder?.judged.includes(intent.id)) return `nobody has its intent in custody${unread}`;
    if (holder.state === 'SENT' && !mailed.has(holder.id)) return 'it counts as sent, and the mail server has nothing';
    if (holder.intent.id !== intent.id && !isToldAsDuplicate(holder, intent.id, evidence)) {
      return 'another event has its slot, and nothing says that it is a duplicate';
    }
    return undefined;
  }
  return acknowledged.flatMap((event): Finding[] => {
    const why = whyLost(event);
    return why === undefined ? [] : [{ kind: 'lost', what: `${event.eventId} (${event.uniqueId}): ${why}` }];
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

/** By the delivery that the Message-ID names, and by the unique id, which is the subject: two views of one promise. */
function findTwice({ mail }: Course): readonly Finding[] {
  const counts = [...countBy(mail, deliveryIdOf), ...countBy(mail, (entry) => `unique id ${entry.subject}`)];
  return counts
    .filter(([, times]) => times > 1)
    .map(([name, times]) => ({ kind: 'twice', what: `${name}: ${times} messages` }));
}

const findStuck = ({ deliveries }: Evidence): readonly Finding[] =>
  deliveries
    .filter(({ state }) => !TERMINAL_STATES.has(state) && state !== 'IN_DOUBT')
    .map(({ id, state, reason }) => ({ kind: 'stuck', what: `${id} is ${state} (${reason})` }));

/** A doubt comes from a call that a kill cut off, or from one that the server never answered; from nothing else. */
function findDoubts({ mail, callsAtKills }: Course, { deliveries }: Evidence): readonly Finding[] {
  const doubts = countBy(deliveries, ({ state, reason }) => (state === 'IN_DOUBT' ? reason : ''));
  const drops = mail.filter(({ dropped }) => dropped).length;
  const bounds = [
    ['lease_ran_out', callsAtKills],
    ['answer_unknown', drops],
  ] as const;
  return bounds.flatMap(([reason, most]): Finding[] => {
    const found = doubts.get(reason) ?? 0;
    return found > most ? [{ kind: 'doubt', what: `${found} doubts ${reason}, at most ${most} have a cause` }] : [];
  });
}

/** What the mail server took is sent or in doubt, and went to somebody who was to be told; every end was told. */
function findUntrue({ acknowledged, mail }: Course, { deliveries, outcomes }: Evidence): readonly Finding[] {
  const byId = new Map(deliveries.map((delivery) => [delivery.id as string, delivery]));
  const customers = new Map<string, Set<string>>();
  for (const { uniqueId, to, fires } of acknowledged) {
    if (fires) customers.set(uniqueId, (customers.get(uniqueId) ?? new Set()).add(to));
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

function findGaps(evidence: Evidence): readonly Finding[] {
  const gaps: Finding[] = evidence.judged.flatMap(({ partition, start, next }): Finding[] => {
    const ranges = evidence.evaluations.filter((one) => one.partition === partition);
    const broken = chainEnd(ranges, start, next);
    return broken === next
      ? []
      : [{ kind: 'gap', what: `evaluations of partition ${partition} end at ${broken} of ${next}` }];
  });
  const letters: Finding[] =
    evidence.deadLetters === 0 ? [] : [{ kind: 'gap', what: `${evidence.deadLetters} dead letters` }];
  return [...gaps, ...letters];
}

/** How far ranges lead that each begin where another ended. Those of a repeated batch overlap, and may end elsewhere. */
export function chainEnd(ranges: readonly Pick<Evaluation, 'from' | 'to'>[], start: number, end: number): number {
  const reached = new Set([start]);
  for (const { from, to } of ranges.toSorted((a, b) => a.from - b.from)) if (reached.has(from)) reached.add(to);
  return reached.has(end) ? end : Math.max(...reached);
}
