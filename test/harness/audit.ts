import type { Delivery } from '@carillon/domain/deliveries';
import { readPosition, type Evaluation } from '@carillon/domain/events';
import type { Evidence } from './evidence.ts';
import { findingsOf, type Finding } from './promises.ts';

/** Slots of one workspace. */
export const slotName = ({ channel, notificationId, uniqueId }: Delivery['slot']): string =>
  `${channel} ${notificationId} ${uniqueId}`;

/**
 * The audit of records (architecture, appendix). Each event is evaluated in exactly one range of a chain without gaps. An
 * evaluation counts what stands on the log. Each trigger has its answer. Each intent is in the one document of its slot.
 * Every record has its cause.
 */
export const findGaps = (evidence: Evidence): readonly Finding[] =>
  findingsOf('gap', [...breaksOf(evidence), ...miscountsOf(evidence), ...openEndsOf(evidence), ...orphansOf(evidence)]);

/** Exactly the events of `parked` have a dead letter, because the partner refused them. */
export const findDeadLetters = (evidence: Evidence, parked: ReadonlySet<string>): readonly Finding[] =>
  findingsOf('gap', lettersOf(evidence, parked));

function lettersOf({ deadLetters }: Evidence, parked: ReadonlySet<string>): readonly string[] {
  const told = new Set(deadLetters.map(({ eventId }) => eventId));
  return [
    ...deadLetters
      .filter(({ eventId }) => eventId === null || !parked.has(eventId))
      .map(({ what, eventId }) => `a dead letter: ${what} ${eventId ?? ''}`),
    ...[...parked]
      .filter((eventId) => !told.has(eventId))
      .map((eventId) => `${eventId} was refused, and no dead letter says so`),
  ];
}

function breaksOf({ evaluations, judged }: Evidence): readonly string[] {
  return judged.flatMap(({ partition, start, next }) => {
    const ranges = evaluations.filter((one) => one.partition === partition);
    const broken = chainEnd(ranges, start, next);
    return broken === next ? [] : [`evaluations of partition ${partition} end at ${broken} of ${next}`];
  });
}

/** How far ranges lead that each begin where another ended. Those of a repeated batch overlap, and may end elsewhere. */
export function chainEnd(ranges: readonly Pick<Evaluation, 'from' | 'to'>[], start: number, end: number): number {
  const reached = new Set([start]);
  for (const { from, to } of ranges.toSorted((a, b) => a.from - b.from)) if (reached.has(from)) reached.add(to);
  return reached.has(end) ? end : Math.max(...reached);
}

type Caused = { readonly id: string; readonly eventId: string; readonly eventPosition: string };

/** How many different ones each position of the event log has caused: what was appended again counts once. */
function countByCause(caused: readonly Caused[]): ReadonlyMap<string, number> {
  const ids = Map.groupBy(caused, ({ eventPosition }) => eventPosition);
  return new Map([...ids].map(([position, own]) => [position, new Set(own.map(({ id }) => id)).size]));
}

/** An event that a state contains already gives nothing, and a deadline is counted where it passed. */
const countsElsewhere = ({ repeated, rules }: Evaluation): boolean =>
  repeated > 0 || rules.some(({ firedByDeadline }) => firedByDeadline > 0);

/** The miscounts of each range, also those of repeated batches: the same events always lead to the same. */
function miscountsOf({ evaluations, events, triggers, intents }: Evidence): readonly string[] {
  const asked = new Set(triggers.map(({ id }) => id));
  const triggersAt = countByCause(triggers);
  // Those of a trigger come of its answer, and are none of the evaluation's.
  const intentsAt = countByCause(
    intents.filter(({ triggerId, deadline }) => !asked.has(triggerId) && deadline === undefined),
  );
  return evaluations.flatMap((evaluation) => {
    const { partition, from, to } = evaluation;
    const places = Array.from({ length: to - from }, (_, at) => `carillon.events/${partition}@${from + at}`);
    const sum = (counts: ReadonlyMap<string, number>): number =>
      places.reduce((total, place) => total + (counts.get(place) ?? 0), 0);
    const found = {
      events: places.filter((place) => events.has(place)).length,
      triggers: sum(triggersAt),
      intents: sum(intentsAt),
    };
    const counted = countsElsewhere(evaluation) ? (['events'] as const) : (['events', 'triggers', 'intents'] as const);
    const wrong = counted.filter((what) => evaluation[what] !== found[what]);
    return wrong.map(
      (what) =>
        `the evaluation of ${partition}@${from}-${to} counts ${evaluation[what]} ${what}, there are ${found[what]}`,
    );
  });
}

/** A trigger without an answer, an intent that its slot does not know of, a slot with two documents. */
function openEndsOf({ triggers, lookups, intents, deliveries, outcomes }: Evidence): readonly string[] {
  const answered = new Set(lookups.map(({ lookup }) => lookup.trigger.id));
  const bySlot = Map.groupBy(deliveries, ({ slot }) => slotName(slot));
  // A document names the last 32 that it judged; of the others there are outcomes.
  const told = new Set(outcomes.map(({ deliveryId, intentId }) => `${deliveryId} ${intentId}`));
  const knows = ({ id, judged, intent }: Delivery, intentId: string): boolean =>
    intent.id === intentId || judged.some((one) => one === intentId) || told.has(`${id} ${intentId}`);
  const unanswered = new Set(triggers.map(({ id }) => id).filter((id) => !answered.has(id)));
  const unheld = new Set(
    intents
      .filter(({ id, slot }) => !bySlot.get(slotName(slot))?.some((delivery) => knows(delivery, id)))
      .map(({ id }) => id),
  );
  return [
    ...[...unanswered].map((id) => `trigger ${id} has no answer`),
    ...[...unheld].map((id) => `intent ${id} is in no delivery`),
    ...[...bySlot].flatMap(([slot, own]) => (own.length === 1 ? [] : [`slot ${slot} has ${own.length} deliveries`])),
  ];
}

/** What is there, and not what has to have caused it. */
function orphansOf({ events, triggers, lookups, intents, deliveries, outcomes }: Evidence): readonly string[] {
  const isCaused = ({ eventId, eventPosition }: Caused): boolean =>
    readPosition(eventPosition)?.topic === 'carillon.events' && events.get(eventPosition) === eventId;
  // The delivery role makes the intent of a digest, in the ledger only.
  const digests = deliveries.flatMap(({ intent }) => (intent.digest === undefined ? [] : [intent]));
  const known = {
    triggers: idsOf(triggers),
    intents: idsOf([...intents, ...digests]),
    deliveries: idsOf(deliveries),
  };
  const answered = new Set<string>(lookups.map(({ lookup }) => lookup.trigger.id));
  const orphans = [
    ...triggers.filter((one) => !isCaused(one)).map(({ id }) => `trigger ${id} has no event`),
    ...intents.filter((one) => !isCaused(one)).map(({ id }) => `intent ${id} has no event`),
    ...[...answered]
      .filter((id) => !known.triggers.has(id))
      .map((id) => `an answer to trigger ${id}, which is not there`),
    ...intents
      .filter(({ triggerId }) => known.triggers.has(triggerId) && !answered.has(triggerId))
      .map(({ id }) => `intent ${id} comes of an answer that is not there`),
    ...deliveries.flatMap(({ id, judged, intent }) =>
      [intent.id, ...judged]
        .filter((one) => !known.intents.has(one))
        .map((one) => `delivery ${id} holds intent ${one}, which is not there`),
    ),
    ...outcomes
      .filter(({ deliveryId, intentId }) => !known.deliveries.has(deliveryId) || !known.intents.has(intentId))
      .map(({ id }) => `outcome ${id} is of nothing that is there`),
  ];
  return [...new Set(orphans)];
}

const idsOf = (all: readonly { readonly id: string }[]): ReadonlySet<string> => new Set(all.map(({ id }) => id));
