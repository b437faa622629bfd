import type { Change } from '@carillon/domain/changes';
import { ruleIdOf, ruleTitle, type Configuration, type PlacedRule } from '@carillon/domain/configuration';
import type { Delivery, Intent } from '@carillon/domain/deliveries';
import { formatPosition, type SourceEvent } from '@carillon/domain/events';
import { bindingsOf, decisionWords } from '@carillon/domain/rules';
import { traceIdOf, type DeliveryId } from '@carillon/kernel';
import type {
  CheckpointStore,
  ConfigurationView,
  DeliveryLedger,
  EventRow,
  Ids,
  ReadModels,
  RuleStateStore,
} from '@carillon/ports';
import {
  readSourceRecord,
  deliveryIdOf,
  runYielding,
  decisionsAbout,
  evaluateEventCoroutine,
  type EvaluatedRule,
} from '@carillon/stages';
import { conditionLines, dropLines } from './explained-lines.ts';
import { letterAt, letterSteps } from './letters.ts';
import { traceAnswer, traceTrigger, type LookupTracePorts } from './lookups.ts';
import {
  isAbout,
  listItems,
  searchFor,
  namedPeople,
  PeopleTally,
  personStory,
  type NamedPerson,
  type PeopleCounts,
  type PersonStory,
} from './people.ts';
import { intentWords, originSteps, sentSteps, testStep } from './origin-steps.ts';
import { byTime, changeLines, deliverySteps, inOrder, step, traceLines, type TraceStep } from './steps.ts';

export type TracePorts = LookupTracePorts & {
  readonly readModels: ReadModels;
  readonly ledger: DeliveryLedger;
  readonly checkpoints: CheckpointStore;
  readonly ruleStates: Pick<RuleStateStore, 'load'>;
  readonly configuration: ConfigurationView;
  readonly ids: Ids;
};

export type Trace = {
  readonly kind: 'event' | 'delivery';
  readonly id: string;
  /** The W3C trace that the request belongs to, as a collector knows it; of a repeated event that of the newest request. */
  readonly traceId: string | null;
  readonly steps: readonly TraceStep[];
  /** Whom an event names, and what came of each; null of a delivery. */
  readonly people: PeoplePage | null;
};

/** A page of the people of an event. Counted and summed up are all that were asked for, and on the first page only. */
export type PeoplePage = {
  readonly summary: { readonly headline: string; readonly counts: PeopleCounts } | null;
  readonly items: readonly PersonStory[];
  /** Where the next page begins; null on the last one. */
  readonly next: number | null;
};

export type PeopleQuery = {
  /** Only those whose address, person or unique_id begins with this, whatever its case. */
  readonly to?: string;
  /** Only those of whom one of these is just that. */
  readonly toIsWhole?: boolean;
  /** Only this person, as the rule names them. */
  readonly person?: string;
  readonly from: number;
  readonly limit: number;
};
const ALL_OF_FEW: PeopleQuery = { from: 0, limit: 100 };
/** So many documents of the ledger are read at once while people are counted. */
const READ_BATCH_SIZE = 64;

/**
 * The whole story of an event. What the rules made of it is judged again from the log by the configuration that judged
 * it then, which gives the same answer for ever (promise 6); what became of each intent comes from the ledger. Where it
 * named one person, the steps tell what became of the message; where it named more, `people` has a line for each.
 */
export async function traceEvent(
  id: string,
  ports: TracePorts,
  query: PeopleQuery = ALL_OF_FEW,
): Promise<Trace | null> {
  const rows = await ports.readModels.event(id);
  if (rows.length === 0) return null;
  const told: RowStory[] = [];
  for (const [index, row] of rows.entries()) told.push(await traceRow(row, index, ports));
  const steps = [...told.flatMap((one) => one.steps), ...(await sentSteps(id, ports))];
  const everybody = told.flatMap((one) => one.people);
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
    (one) => (searched === null || isAbout(one, searched)) && (person === undefined || one.recipient.person === person),
  );
  const until = Math.min(wanted.length, from + limit);
  const items: PersonStory[] = [];
  const tally = new PeopleTally();
  const last = from === 0 ? wanted.length : until;
  for (let at = from; at < last; at += READ_BATCH_SIZE) {
    const some = wanted.slice(at, Math.min(last, at + READ_BATCH_SIZE));
    for (const story of await Promise.all(some.map((one) => personStory(one, ledger)))) {
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
    step('duplicate', row.at, `event ${row.eventId} asked for the same again`, {
      id: row.intentId,
      reason: 'duplicate',
    }),
  );
  const asked = await traceAnswer(delivery.intent.triggerId, ports);
  const digest = await stepsOfDigest(delivery, ports);
  const told = [...deliverySteps(delivery), ...digest, ...duplicates].toSorted(byTime);
  const { test, traceparent } = delivery.intent;
  // A story without the language of its message is better than none.
  const pinned = await ports.configuration.at(delivery.intent.configNumber).catch(() => null);
  if (test) {
    const steps = inOrder([testStep(delivery, test, pinned), ...told]);
    return { kind: 'delivery', id, traceId: traceIdOf(traceparent), steps, people: null };
  }
  const [event, trigger, intent] = originSteps(delivery, pinned);
  // A slot that was taken over has a story from before its event.
  const steps = inOrder([event, trigger, ...asked, intent, ...told]);
  return { kind: 'delivery', id, traceId: traceIdOf(delivery.intent.traceparent), steps, people: null };
}

/** The story of one place where an event stands on the log. */
type RowStory = {
  readonly steps: readonly TraceStep[];
  readonly people: readonly NamedPerson[];
  /** The event. Null if it is not on the log any more, or not evaluated yet. */
  readonly event: SourceEvent | null;
};

export async function traceRow(row: EventRow, index: number, ports: TracePorts): Promise<RowStory> {
  const position = formatPosition({ logId: ports.log.logId, topic: 'carillon.events', ...row });
  const again =
    index === 0 ? '' : row.reused ? '; its id was used before with another body' : '; a repeat of the same event';
  const lines = traceLines(row.traceId);
  const received = `received on ${row.stream}, ${row.bytes} bytes${again}`;
  const steps = [step('event', row.at, received, { id: row.id, position, lines })];
  const [record] = await ports.log.read('carillon.events', row.partition, row.offset, 1);
  const endingIn = (last: TraceStep): RowStory => ({ steps: [...steps, last], people: [], event: null });
  if (!record || record.offset !== row.offset) {
    return endingIn(
      step('evaluation', null, 'the event has left the log (retention); its deliveries stand in the ledger'),
    );
  }
  const checkpoint = await ports.checkpoints.load('engine', 'carillon.events', row.partition);
  if (!checkpoint || checkpoint.next <= row.offset) {
    const behind = row.offset + 1 - (checkpoint?.next ?? 0);
    return endingIn(
      step('evaluation', null, `not judged yet: the engine is ${behind} records behind in this partition`),
    );
  }
  const read = readSourceRecord(record, ports.log.logId);
  if (!read.ok || read.value.kind !== 'event') {
    const parked = await letterSteps(letterAt('evaluate', 'carillon.events', row, ports), ports);
    const unknown = step('dead_letter', row.at, 'the record cannot be read; see the dead letters');
    return { steps: [...steps, ...(parked.length > 0 ? parked : [unknown])], people: [], event: null };
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
  const { configNumber } = row;
  steps.push(
    step('evaluation', row.at, `judged by configuration ${configNumber}: ${countWords(evaluatedRules)}`, {
      configNumber,
    }),
  );
  const people: NamedPerson[] = [];
  const messages: { readonly at: number; readonly intent: Intent }[] = [];
  for (const evaluated of evaluatedRules) {
    const told = await traceRule(evaluated, event, row, configuration, ports);
    steps.push(...told.steps);
    people.push(...told.people);
    if (people.length <= 1) messages.push(...told.intents.map((intent) => ({ at: steps.length, intent })));
  }
  const [only, ...others] = messages;
  if (only && others.length === 0 && people.length <= 1) {
    steps.splice(only.at, 0, ...(await intentSteps(only.intent, ports)));
  }
  steps.push(...(await rememberedSteps(event, configuration, row, ports)));
  steps.push(...(await letterSteps(letterAt('evaluate', 'carillon.events', row, ports), ports)));
  return { steps, people, event };
}

async function traceRule(
  evaluated: EvaluatedRule,
  event: SourceEvent,
  row: EventRow,
  configuration: Configuration,
  ports: TracePorts,
): Promise<Pick<RowStory, 'steps' | 'people'> & { readonly intents: readonly Intent[] }> {
  const { outcome, placed, triggers } = evaluated;
  const found = ports.book.rulesOf(configuration, event.stream).find((one) => one.ok && one.placed === placed);
  const rule = found?.ok ? found.rule : null;
  const bindings = bindingsOf(event);
  if (ports.slice.isExpired()) await ports.slice.yield();
  const hasFired = outcome.kind === 'fired' || outcome.kind === 'asks';
  const isSkipped = outcome.kind === 'not_fired' && outcome.because !== undefined;
  // Of a change both values are told, also if the rule fired.
  const isToExplain = event.change === null ? !hasFired : !isSkipped;
  const lines = isToExplain && rule ? conditionLines(rule, bindings) : [];
  const steps = [
    isSkipped ? skippedStep(placed, row, rule?.changes ?? [], event.change) : ruleStep(evaluated, row, lines),
  ];
  if (outcome.kind === 'fired') {
    const items = rule ? listItems(rule, bindings) : undefined;
    const naming = { rule: ruleTitle(placed), intents: evaluated.intents, itemAt: (at: number) => items?.[at] };
    return { steps, intents: evaluated.intents, people: namedPeople({ ...outcome, ...naming }, ports.ids) };
  }
  const people: NamedPerson[] = [];
  const intents: Intent[] = [];
  for (const trigger of triggers) {
    const traced = await traceTrigger(trigger, configuration, ports);
    steps.push(...traced.steps);
    people.push(...traced.people);
    // The messages of many are told by their people, and would only fill the memory here.
    if (people.length <= 1) intents.push(...traced.intents);
  }
  return { steps, intents, people };
}

/** A rule with state is not evaluated again. Its newest decisions are in the memory of the entity. */
async function rememberedSteps(
  event: SourceEvent,
  configuration: Configuration,
  { at, configNumber }: EventRow,
  { book, ruleStates, ids }: TracePorts,
): Promise<readonly TraceStep[]> {
  const remembering = book.rulesOf(configuration, event.stream).filter((one) => one.ok && one.rule.memory !== null);
  if (remembering.length === 0) return [];
  const decisions = await decisionsAbout(event, ruleStates, ids.derive);
  return remembering.map(({ placed }) => {
    const own = decisions.filter(({ ruleId }) => ruleId === ruleIdOf(placed));
    const more = { rule: ruleTitle(placed), ruleVersion: placed.version, configNumber };
    if (own.length === 0) return step('rule', null, 'did not fire, or its decision is kept no longer', more);
    const lines = own.flatMap(decisionWords);
    return step('rule', at, 'decided by what it keeps of the entity', { ...more, lines });
  });
}

function countWords(evaluatedRules: readonly EvaluatedRule[]): string {
  if (evaluatedRules.length === 0) return 'no rule listens on this stream';
  const fired = evaluatedRules.filter(({ outcome }) => outcome.kind === 'fired' || outcome.kind === 'asks').length;
  return `${evaluatedRules.length} ${evaluatedRules.length === 1 ? 'rule' : 'rules'} saw it, ${fired} fired`;
}

/** A rule that does not look at changes of this sort. */
function skippedStep(placed: PlacedRule, row: EventRow, changes: readonly string[], change: Change | null): TraceStep {
  const text = `did not fire: it looks at ${changes.join(', ')}, and this is a ${change?.op ?? 'change'}`;
  const more = { rule: ruleTitle(placed), ruleVersion: placed.version, configNumber: row.configNumber };
  return step('rule', row.at, text, { ...more, reason: 'other_change' });
}

function ruleStep({ placed, outcome, triggerId }: EvaluatedRule, row: EventRow, lines: readonly string[]): TraceStep {
  const rule = ruleTitle(placed);
  const more = { rule, ruleVersion: placed.version, configNumber: row.configNumber, lines };
  switch (outcome.kind) {
    case 'disabled':
      return step('rule', row.at, 'did not fire: it is switched off', { ...more, lines: [], reason: 'disabled' });
    case 'not_fired':
      return step('rule', row.at, 'did not fire: `when` is false', { ...more, reason: 'when_false' });
    case 'failed':
      return step('rule', row.at, `did not fire: ${outcome.error}`, { ...more, reason: outcome.reason });
    case 'asks': {
      const { userIds, dropped } = outcome;
      const drops = dropLines('user id', dropped);
      const partner = placed.body.recipients.from === 'lookup' ? placed.body.recipients.integration : '';
      const text = `fired: asks ${partner} about ${userIds.length} user ${userIds.length === 1 ? 'id' : 'ids'}`;
      return step('rule', row.at, text, { ...more, lines: [...lines, ...drops] });
    }
    case 'fired': {
      const { recipients, dropped } = outcome;
      const drops = dropLines('recipient', dropped);
      const text = `fired: ${recipients.length} ${recipients.length === 1 ? 'recipient' : 'recipients'}`;
      return step('trigger', row.at, text, { ...more, id: triggerId, lines: [...lines, ...drops] });
    }
  }
}

async function intentSteps(intent: Intent, ports: TracePorts): Promise<TraceStep[]> {
  const { rule, ruleVersion, configNumber } = intent;
  const delivery = await ports.ledger.get(deliveryIdOf(intent, ports.ids));
  const holds = delivery?.intent.id === intent.id;
  const pinned = await ports.configuration.at(configNumber).catch(() => null);
  const first = step('intent', intent.causedAt, intentWords(intent, pinned), {
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

/** What became of the digest that tells of an item. */
async function stepsOfDigest({ digestedIn }: Delivery, { ledger }: TracePorts): Promise<readonly TraceStep[]> {
  const digest = digestedIn === undefined ? null : await ledger.get(digestedIn);
  return digest ? deliverySteps(digest) : [];
}
