import { canonicalAddress, type ChannelName } from '@carillon/domain/channels';
import { readRuleTitle, ruleTitle, type Configuration } from '@carillon/domain/configuration';
import { describeReason, givesSlotAway, reasonText } from '@carillon/domain/deliveries';
import type { SourceEvent } from '@carillon/domain/events';
import { bindingsOf } from '@carillon/domain/rules';
import type { DeliveryId } from '@carillon/kernel';
import {
  evaluateEventCoroutine,
  itemsFor,
  recordedAnswerOf,
  resolveLookupCoroutine,
  runYielding,
  type EvaluatedRule,
  type RuleBook,
} from '@carillon/stages';
import { GATE_TITLES, gatesOfDelivery, type GateName } from './gates.ts';
import { itemOfAnswer, readAnswer } from './lookups.ts';
import { isAbout, listItems, namedPeople, type NamedPerson, type Searched } from './people.ts';
import type { TracePorts } from './trace-ports.ts';

/** Drafts for which a question is answered in addition to the published configuration. */
export type Drafts = {
  /** The configuration with the drafts published. */
  readonly configuration: Configuration;
  /** Names of the notifications that the drafts change, by their own body, a template, a layout or a partial. */
  readonly edited: ReadonlySet<string>;
};

/** `unknown`: neither event nor ledger decides it. */
export type DraftResult = 'notified' | 'waiting' | 'in_doubt' | 'stopped' | 'unknown';

/** The outcome of an event and a rule for a person, with the drafts. */
export type DraftOutcome = {
  readonly result: DraftResult;
  /** The first gate that is not passed. Null: notified. */
  readonly gate: GateName | null;
  readonly text: string;
};

/** Describes an outcome as text to follow *With the drafts:*. */
export function describeDraftOutcome({ result, gate, text }: DraftOutcome): string {
  if (gate === null) return 'notified';
  const title = GATE_TITLES[gate];
  const because = text === '' ? '' : ` (${text})`;
  if (result === 'stopped') return `stopped at: ${title}${because}`;
  const state = { notified: 'notified', waiting: 'waiting', in_doubt: 'in doubt', unknown: 'not known' }[result];
  return `${state}, at: ${title}${because}`;
}

export type DraftFinding = DraftOutcome & {
  /** `notification.rule` */
  readonly rule: string;
  /** Both are null if the rule makes no message for the person. */
  readonly channel: ChannelName | null;
  readonly slot: DeliveryId | null;
};

/** Person and events of a question. */
export type DraftQuestion = {
  readonly searched: Searched;
  /** People with the searched name in the published rules. With the drafts they may have another address or none. */
  readonly named: readonly NamedPerson[];
  readonly drafts: Drafts;
  /** A book narrowed to the rules in question. */
  readonly book: RuleBook;
  /** True if rules that name no recipient are findings too. */
  readonly isAboutEvent: boolean;
};

/** Gates that depend on the notification. The ledger only knows the version published at the time. */
const OF_NOTIFICATION: ReadonlySet<GateName> = new Set(['rule', 'in_time', 'schedule', 'rendered', 'limits']);

const NO_MESSAGE = { channel: null, slot: null } as const;
const NOTIFIED: DraftOutcome = { result: 'notified', gate: null, text: '' };
export const stoppedAt = (gate: GateName, text: string): DraftOutcome => ({ result: 'stopped', gate, text });
const unknownAt = (gate: GateName, text: string): DraftOutcome => ({ result: 'unknown', gate, text });

/**
 * Evaluates an event with the drafts and returns the result of each rule for the person. The ledger shows what stops a
 * message after its address. Each event is evaluated alone, without earlier messages that the drafts would have sent.
 */
export async function draftFindings(
  event: SourceEvent,
  question: DraftQuestion,
  ports: TracePorts,
): Promise<readonly DraftFinding[]> {
  const { book, drafts, isAboutEvent } = question;
  const { configuration } = drafts;
  const work = evaluateEventCoroutine(event, configuration, book, ports.ids.derive);
  const findings: DraftFinding[] = [];
  for (const evaluated of await runYielding(work, ports.slice)) {
    const found = await findingsOf(evaluated, event, question, ports);
    findings.push(...found.map((finding) => ({ rule: ruleTitle(evaluated.placed), ...finding })));
  }
  if (!isAboutEvent) return findings;
  const remembering = book.rulesOf(configuration, event.stream).filter((entry) => entry.ok && entry.rule.memory);
  const unknown = unknownAt('condition', 'the rule depends on earlier events, so this event alone does not decide');
  return [...findings, ...remembering.map(({ placed }) => ({ rule: ruleTitle(placed), ...NO_MESSAGE, ...unknown }))];
}

type RuleFinding = Omit<DraftFinding, 'rule'>;

async function findingsOf(
  evaluated: EvaluatedRule,
  event: SourceEvent,
  question: DraftQuestion,
  ports: TracePorts,
): Promise<readonly RuleFinding[]> {
  const silent = (outcome: DraftOutcome): readonly RuleFinding[] =>
    question.isAboutEvent ? [{ ...NO_MESSAGE, ...outcome }] : [];
  const { outcome } = evaluated;
  if (outcome.kind === 'disabled') return silent(stoppedAt('rule', 'the rule is switched off'));
  if (outcome.kind === 'failed') return silent(stoppedAt('condition', outcome.error));
  if (outcome.kind === 'not_fired') {
    const isSkipped = outcome.because !== undefined;
    const text = isSkipped ? `the rule does not look at a ${event.change?.op ?? 'change'}` : '`when` is false';
    return silent(stoppedAt('condition', text));
  }
  const people = await peopleOf(evaluated, event, question, ports);
  if (people === null) return silent(unknownAt('recipient', 'no recorded answer of the partner fits'));
  const named = peopleMeant(people, question);
  if (named.length === 0)
    return silent(stoppedAt('recipient', `none of its ${people.length} recipients has this name`));
  const holders = new Map(people.toReversed().map((person) => [person.message?.deliveryId, person]));
  const findings: RuleFinding[] = [];
  for (const person of named) {
    const { message } = person;
    const holder = holders.get(message?.deliveryId) ?? person;
    const slotFacts = message ? { channel: message.channel, slot: message.deliveryId } : NO_MESSAGE;
    findings.push({ ...slotFacts, ...(await outcomeOf(person, holder, { event, rule: evaluated, question }, ports)) });
  }
  return findings;
}

function peopleMeant(people: readonly NamedPerson[], { searched, named }: DraftQuestion): readonly NamedPerson[] {
  const persons = new Set(named.map(({ recipient }) => recipient.person));
  const uniqueIds = new Set(named.map(({ recipient }) => recipient.uniqueId));
  const found = people.filter(
    (each) => isAbout(each, searched) || (!each.dropped && persons.has(each.recipient.person)),
  );
  if (found.length > 0) return found;
  // Several recipients may share a `unique_id`.
  const alike = people.filter(({ dropped, recipient }) => !dropped && uniqueIds.has(recipient.uniqueId));
  return new Set(alike.map(({ place }) => place)).size === 1 ? alike : [];
}

/** Returns all recipients of a fired rule. Null if the rule asks a partner and no recorded answer matches. */
async function peopleOf(
  { outcome, placed, intents, triggers }: EvaluatedRule,
  event: SourceEvent,
  { book, drafts: { configuration } }: DraftQuestion,
  ports: TracePorts,
): Promise<readonly NamedPerson[] | null> {
  const rule = ruleTitle(placed);
  if (outcome.kind === 'fired') {
    const entry = book.rulesOf(configuration, event.stream).find((each) => each.ok && each.placed === placed);
    const items = entry?.ok ? listItems(entry.rule, bindingsOf(event)) : undefined;
    return namedPeople({ ...outcome, rule, intents, itemAt: (at) => items?.[at] }, ports.ids);
  }
  const people: NamedPerson[] = [];
  for (const trigger of triggers) {
    const answer = await readAnswer(trigger.id, ports);
    const items = itemsFor(trigger, answer ? recordedAnswerOf(answer.lookup, answer.lookup.answeredAt) : undefined);
    if (items === null) return null;
    const work = resolveLookupCoroutine({ trigger, items }, configuration, book, ports.ids.derive);
    const resolved = await runYielding(work, ports.slice);
    if (!resolved.ok) return null;
    people.push(...namedPeople({ ...resolved.value, itemAt: (at) => itemOfAnswer(items[at]) }, ports.ids));
  }
  return people;
}

type Finding = { readonly event: SourceEvent; readonly rule: EvaluatedRule; readonly question: DraftQuestion };

/** `holder`: the first of the event's recipients with this slot. */
async function outcomeOf(
  { message, dropped, recipient }: NamedPerson,
  holder: NamedPerson,
  { event, rule, question }: Finding,
  { ledger }: TracePorts,
): Promise<DraftOutcome> {
  if (dropped) {
    const { reason, detail } = dropped;
    return stoppedAt('recipient', `${reasonText(reason) ?? reason}: ${detail}`);
  }
  if (!message) return stoppedAt('address', 'no address for any of its channels');
  const { address, person } = recipient;
  if (address === null) return stoppedAt('address', describeReason('no_address'));
  if (canonicalAddress(message.channel, address) === null) {
    return stoppedAt('address', describeReason('invalid_address'));
  }
  if (holder.recipient !== recipient) {
    return stoppedAt('duplicate', `recipient ${holder.place} of the same event has the same unique_id`);
  }
  const delivery = await ledger.get(message.deliveryId);
  if (!delivery) return NOTIFIED;
  const digest = delivery.digestedIn === undefined ? null : await ledger.get(delivery.digestedIn);
  const { intent } = delivery;
  const isOwn = intent.eventId === event.id && intent.person === person;
  if (!(isOwn && intent.to === address) && givesSlotAway(delivery, digest)) return NOTIFIED;
  const gates = gatesOfDelivery(delivery, isOwn ? intent.id : message.intentId, digest);
  const stop = gates.find(({ result }) => result === 'stopped' || result === 'waiting' || result === 'in_doubt');
  if (!stop) return NOTIFIED;
  const { gate, text } = stop;
  const notification = readRuleTitle(ruleTitle(rule.placed))?.notification ?? '';
  if (stop.result === 'stopped' && OF_NOTIFICATION.has(gate) && question.drafts.edited.has(notification)) {
    return unknownAt(gate, `${text}; the published version decided this, and the drafts change the notification`);
  }
  return { result: stop.result as DraftResult, gate, text };
}
