import type { Delivery, Intent } from '@carillon/domain/deliveries';
import { formatPosition, type SourceEvent } from '@carillon/domain/events';
import { traceIdOf, type DeliveryId, type Instant } from '@carillon/kernel';
import type { EventRow } from '@carillon/ports';
import {
  readSourceRecord,
  deliveryIdOf,
  runYielding,
  evaluateEventCoroutine,
  type EvaluatedRule,
} from '@carillon/stages';
import { letterAt, letterSteps } from './letters.ts';
import { traceAnswer } from './lookups.ts';
import {
  isAbout,
  searchFor,
  PeopleTally,
  personStory,
  type NamedPerson,
  type PeopleCounts,
  type PersonStory,
} from './people.ts';
import { intentWords, originSteps, sentSteps, testStep } from './origin-steps.ts';
import { rememberedStories, waitOfDelivery, type RememberedRule, type RememberedStory } from './remembered.ts';
import { traceRule, type RuleStory } from './rule-story.ts';
import { byTime, changeLines, deliverySteps, inOrder, step, traceLines, type TraceStep } from './steps.ts';
import type { TracePorts } from './trace-ports.ts';

export type Trace = {
  readonly kind: 'event' | 'delivery';
  readonly id: string;
  /** The W3C trace of the request; for a repeated event, of the newest request. */
  readonly traceId: string | null;
  readonly steps: readonly TraceStep[];
  /** Recipients of an event with their outcomes. Null for a delivery. */
  readonly people: PeoplePage | null;
};

/** A page of an event's recipients. Only the first page has the summary, over all recipients that match. */
export type PeoplePage = {
  readonly summary: { readonly headline: string; readonly counts: PeopleCounts } | null;
  readonly items: readonly PersonStory[];
  /** Index of the next page. Null on the last page. */
  readonly next: number | null;
};

export type PeopleQuery = {
  /** Prefix of address, person or unique_id, regardless of case. */
  readonly to?: string;
  /** True if `to` must match completely. */
  readonly toIsWhole?: boolean;
  /** Person as named by the rule. */
  readonly person?: string;
  readonly from: number;
  readonly limit: number;
};
const ALL_OF_FEW: PeopleQuery = { from: 0, limit: 100 };
/** Deliveries read concurrently while recipients are counted. */
const READ_BATCH_SIZE = 64;

/**
 * Explains an event. The rules are evaluated again from the log with the original configuration, which gives the same
 * result (promise 6); outcomes come from the ledger. With one recipient, the steps include the message; with several,
 * `people` has an entry per recipient.
 */
export async function traceEvent(
  id: string,
  ports: TracePorts,
  query: PeopleQuery = ALL_OF_FEW,
): Promise<Trace | null> {
  const rows = await ports.readModels.event(id);
  if (rows.length === 0) return null;
  const stories: RowStory[] = [];
  for (const [index, row] of rows.entries()) stories.push(await traceRow(row, index, ports));
  const steps = [...stories.flatMap((story) => story.steps), ...(await sentSteps(id, ports))];
  const everybody = stories.flatMap((story) => story.people);
  if (everybody.length <= 1) {
    const letters = await ports.readModels.duplicatesOfEvent(id);
    for (const row of letters) {
      const more = { id: row.deliveryId, state: 'SUPPRESSED', reason: 'duplicate' };
      steps.push(step('duplicate', row.at, row.detail, more));
    }
  }
  const traceId = rows.at(-1)?.traceId ?? null;
  return { kind: 'event', id, traceId, steps: inOrder(steps), people: await pageOfPeople(everybody, query, ports) };
}

async function pageOfPeople(
  everybody: readonly NamedPerson[],
  { to, toIsWhole: isWhole = false, person, from, limit }: PeopleQuery,
  { ledger, slice }: TracePorts,
): Promise<PeoplePage> {
  const searched = to === undefined ? null : searchFor(to, isWhole);
  const wanted = everybody.filter(
    (named) =>
      (searched === null || isAbout(named, searched)) && (person === undefined || named.recipient.person === person),
  );
  const until = Math.min(wanted.length, from + limit);
  const items: PersonStory[] = [];
  const tally = new PeopleTally();
  const last = from === 0 ? wanted.length : until;
  for (let at = from; at < last; at += READ_BATCH_SIZE) {
    const some = wanted.slice(at, Math.min(last, at + READ_BATCH_SIZE));
    for (const story of await Promise.all(some.map((named) => personStory(named, ledger)))) {
      if (items.length < until - from) items.push(story);
      tally.add(story);
    }
    if (slice.isExpired()) await slice.yield();
  }
  const { headline, counts } = tally;
  return { summary: from === 0 ? { headline, counts } : null, items, next: until < wanted.length ? until : null };
}

export async function traceDelivery(id: string, ports: TracePorts): Promise<Trace | null> {
  const delivery = await ports.ledger.get(id as DeliveryId);
  if (!delivery) return null;
  const duplicates = (await ports.readModels.duplicatesOfDelivery(id)).map((row) =>
    step('duplicate', row.at, `event ${row.eventId} would have sent the same message again`, {
      id: row.intentId,
      reason: 'duplicate',
    }),
  );
  const answer = await traceAnswer(delivery.intent.triggerId, ports);
  const digest = await stepsOfDigest(delivery, ports);
  const timeline = [...deliverySteps(delivery), ...digest, ...duplicates].toSorted(byTime);
  const { test, traceparent } = delivery.intent;
  // Without the configuration only the language is missing from the story.
  const pinned = await ports.configuration.at(delivery.intent.configNumber).catch(() => null);
  if (test) {
    const steps = inOrder([testStep(delivery, test, pinned), ...timeline]);
    return { kind: 'delivery', id, traceId: traceIdOf(traceparent), steps, people: null };
  }
  const published = ports.configuration.current();
  const origin = originSteps(delivery, { pinned, published, ...(await waitOfDelivery(delivery, ports)) });
  // A slot that was taken over has earlier steps than its event.
  const steps = inOrder([origin.event, ...origin.wait, origin.trigger, ...answer, origin.intent, ...timeline]);
  return { kind: 'delivery', id, traceId: traceIdOf(delivery.intent.traceparent), steps, people: null };
}

/** Story of one log position of an event. */
type RowStory = {
  readonly steps: readonly TraceStep[];
  readonly people: readonly NamedPerson[];
  /** Null if retention removed the event or it is not evaluated yet. */
  readonly event: SourceEvent | null;
  /** Rules with state that received the event. */
  readonly remembered: readonly RememberedRule[];
};

const ERASED_EVENT = 'the event was erased; waits made from it ended as erased';

export async function traceRow(row: EventRow, index: number, ports: TracePorts): Promise<RowStory> {
  const position = formatPosition({ logId: ports.log.logId, topic: 'carillon.events', ...row });
  const again =
    index === 0 ? '' : row.reused ? '; its id was used before with another body' : '; a repeat of the same event';
  const lines = traceLines(row.traceId);
  const received = `received on ${row.stream}, ${row.bytes} bytes${again}`;
  const steps = [step('event', row.at, received, { id: row.id, position, lines })];
  const [record] = await ports.log.read('carillon.events', row.partition, row.offset, 1);
  const nothing = { people: [], event: null, remembered: [] } as const;
  const endingIn = (last: TraceStep): RowStory => ({ ...nothing, steps: [...steps, last] });
  if (!record || record.offset !== row.offset) {
    return endingIn(
      step('evaluation', null, 'retention has removed the event from the log; its deliveries are still in the ledger'),
    );
  }
  const checkpoint = await ports.checkpoints.load('engine', 'carillon.events', row.partition);
  if (!checkpoint || checkpoint.next <= row.offset) {
    const behind = row.offset + 1 - (checkpoint?.next ?? 0);
    return endingIn(
      step('evaluation', null, `not evaluated yet: the engine is ${behind} records behind in this partition`),
    );
  }
  const read = readSourceRecord(record, ports.log.logId);
  if (read.ok && read.value.kind === 'erased') return endingIn(step('evaluation', null, ERASED_EVENT));
  if (!read.ok || read.value.kind !== 'event') {
    const parked = await letterSteps(letterAt('evaluate', 'carillon.events', row, ports), ports);
    const unknown = step('dead_letter', row.at, 'the record cannot be read; see the dead letters');
    return { ...nothing, steps: [...steps, ...(parked.length > 0 ? parked : [unknown])] };
  }
  const { event } = read.value;
  if (event.change)
    steps[0] = step('event', row.at, received, {
      id: row.id,
      position,
      lines: [...lines, ...changeLines(event.change)],
    });
  const configuration = await ports.configuration.at(row.configNumber);
  const work = evaluateEventCoroutine(event, configuration, ports.book, ports.ids.derive);
  const evaluatedRules = await runYielding(work, ports.slice);
  const stories = await rememberedStories(event, configuration, row, ports);
  const { configNumber } = row;
  const counts = countWords(evaluatedRules, stories);
  steps.push(step('evaluation', row.at, `evaluated with configuration ${configNumber}: ${counts}`, { configNumber }));
  const people: NamedPerson[] = [];
  const messages: { readonly at: number; readonly intent: Intent }[] = [];
  const tell = (story: RuleStory): void => {
    steps.push(...story.steps);
    people.push(...story.people);
    if (people.length <= 1) messages.push(...story.intents.map((intent) => ({ at: steps.length, intent })));
  };
  for (const evaluated of evaluatedRules) tell(await traceRule(evaluated, event, row, configuration, ports));
  for (const story of stories) tell(story);
  const [only, ...others] = messages;
  if (only && others.length === 0 && people.length <= 1) {
    steps.splice(only.at, 0, ...(await intentSteps(only.intent, steps[only.at - 1]?.at ?? null, ports)));
  }
  steps.push(...(await letterSteps(letterAt('evaluate', 'carillon.events', row, ports), ports)));
  return { steps, people, event, remembered: stories.map(({ remembered }) => remembered) };
}

function countWords(evaluatedRules: readonly EvaluatedRule[], stories: readonly RememberedStory[]): string {
  const count = evaluatedRules.length + stories.length;
  if (count === 0) return 'no rule listens on this stream';
  const fired = evaluatedRules.filter(({ outcome }) => outcome.kind === 'fired' || outcome.kind === 'asks').length;
  const decided = stories.length === 0 ? '' : `, ${stories.length} decided by the state of the entity`;
  return `${count} ${count === 1 ? 'rule' : 'rules'} saw it, ${fired} fired${decided}`;
}

/** `firedAt`: when its rule fired. */
async function intentSteps(intent: Intent, firedAt: Instant | null, ports: TracePorts): Promise<TraceStep[]> {
  const { rule, ruleVersion, configNumber } = intent;
  const delivery = await ports.ledger.get(deliveryIdOf(intent, ports.ids));
  const holds = delivery?.intent.id === intent.id;
  const pinned = await ports.configuration.at(configNumber).catch(() => null);
  const first = step('intent', intent.deadline === undefined ? intent.causedAt : firedAt, intentWords(intent, pinned), {
    id: intent.id,
    position: holds ? delivery.intentPosition : null,
    person: intent.person,
    rule,
    ruleVersion,
    configNumber,
  });
  if (!delivery) return [first, step('delivery', null, 'not in the ledger yet', { person: intent.person })];
  const own = deliverySteps(delivery, intent.id);
  return [first, ...own, ...(holds ? await stepsOfDigest(delivery, ports) : [])];
}

/** Returns the steps of the digest that includes an item. */
async function stepsOfDigest({ digestedIn }: Delivery, { ledger }: TracePorts): Promise<readonly TraceStep[]> {
  const digest = digestedIn === undefined ? null : await ledger.get(digestedIn);
  return digest ? deliverySteps(digest) : [];
}
