import { canonicalAddress } from '@carillon/domain/channels';
import { findRuleById, ruleIdOf, type PlacedRule } from '@carillon/domain/configuration';
import type { SourceEvent } from '@carillon/domain/events';
import { findRecipientsOf } from '@carillon/domain/lookups';
import {
  bindingsOf,
  gatesOfForms,
  outcomeWithoutFiring,
  StepBudget,
  type CompiledRule,
  type Dropped,
  type Recipient,
} from '@carillon/domain/rules';
import type { Row, Side } from '@carillon/domain/runs';
import { formatInstant, type Coroutine } from '@carillon/kernel';
import {
  causeOfEvent,
  causeOfTrigger,
  evaluateOutcomesCoroutine,
  isFired,
  itemsFor,
  makeMessages,
  makeTriggers,
  type Cause,
  type CompareContext,
  type FiredRule,
  type Wanted,
} from '@carillon/stages';
import { conditionLines, dropLines } from './explained-lines.ts';
import { gate, type Gate, type GateName, type GateResult } from './gates.ts';

/** Gates up to a wanted message. Later gates belong to the delivery. */
const ROW_GATES = [
  'event',
  'rule',
  'condition',
  'deadline',
  'recipient',
  'address',
] as const satisfies readonly GateName[];
type RowGate = (typeof ROW_GATES)[number];

/** One side of a row. */
export type RowSide = {
  readonly event: SourceEvent;
  readonly row: Pick<Row, 'ruleId' | 'channel' | 'at' | 'atBefore'> & { readonly workspace: string };
  readonly side: Side;
  /** True if the comparison found that the side wants a message. */
  readonly isWanted: boolean;
  /** The message that the side wants. Undefined if it wants none, or if the event alone does not make it again. */
  readonly message: Wanted | undefined;
  /** The message that the other side wants. */
  readonly other: Wanted | undefined;
};

/**
 * Explains gate by gate why a side of a comparison wants the message of a row, or why not. Evaluates the event like the
 * run. The first gate that stops the message has the reason; later gates are not reached.
 */
export function* rowGatesCoroutine(rowSide: RowSide, context: CompareContext): Coroutine<readonly Gate[]> {
  const known = new Map<GateName, Gate>();
  const add = (name: RowGate, result: GateResult, text: string, lines: readonly string[] = []): boolean => {
    known.set(name, gate(name, result, text, { lines, source: 'log' }));
    return result === 'passed';
  };
  yield* passGates(rowSide, context, add);
  const shown = ROW_GATES.filter((name) => name !== 'deadline' || known.has(name));
  return shown.map((name) => known.get(name) ?? gate(name, 'not_reached'));
}

type AddGate = (name: RowGate, result: GateResult, text: string, lines?: readonly string[]) => boolean;

function* passGates(rowSide: RowSide, context: CompareContext, add: AddGate): Coroutine<void> {
  const { event, message, row, side } = rowSide;
  const configuration = context.configurations[side];
  const ruleId = message ? ruleIdOf(message.placed) : row.ruleId;
  add('event', 'passed', `received on ${event.stream}`);
  const placed = findRuleById(configuration, row.workspace, ruleId);
  const problem = problemOf(placed, event);
  if (!placed || problem !== null) return void add('rule', 'stopped', problem ?? 'there is no such rule');
  add('rule', 'passed', `the rule is on and listens on ${placed.stream}`);
  const rules = context.book.rulesOf(configuration, event.stream);
  const found = rules.find((entry) => ruleIdOf(entry.placed) === ruleId);
  const lines = found?.ok ? conditionLines(found.rule, bindingsOf(event)) : [];
  if (found?.ok && found.rule.memory !== null) return passStateful(rowSide, found.rule, lines, add);
  const results = yield* evaluateOutcomesCoroutine(event, rules, context.ids.derive);
  const result = results.find((evaluated) => ruleIdOf(evaluated.placed) === ruleId);
  if (!result || !isFired(result)) {
    const text = result?.outcome.kind === 'failed' ? result.outcome.error : '`when` is false';
    const isSkipped = result?.outcome.kind === 'not_fired' && result.outcome.because !== undefined;
    if (isSkipped) add('condition', 'stopped', `the rule does not look at a ${event.change?.op ?? 'change'}`);
    else add('condition', 'stopped', text, lines);
    return;
  }
  add('condition', 'passed', '`when` is true', lines);
  if (message) {
    add('recipient', 'passed', `recipient of the rule, with unique_id ${message.uniqueId}`);
    return void add('address', 'passed', message.to ?? '');
  }
  yield* passRecipient(rowSide, result, context, add);
}

const HELD_BACK =
  'the event alone does not say why: a later event ended the wait, the deadline is after the time range, the rule fired too recently, ' +
  'or earlier events decide. Try the rule with the events of the entity';
const NEEDS_EVENTS = 'the message cannot be shown, because the rule uses values of earlier events in its messages';

/** Adds the gates of a rule with state. The comparison knows that it fired, and the event alone does not say why it did not. */
function passStateful(
  { event, isWanted, message, row, side }: RowSide,
  rule: CompiledRule,
  lines: readonly string[],
  add: AddGate,
): void {
  if (isWanted) {
    add('condition', 'passed', 'the rule fired for this event', lines);
    const at = side === 'before' ? (row.atBefore ?? row.at) : row.at;
    if (gatesOfForms(rule.placed.body).includes('deadline')) {
      add('deadline', 'passed', `the rule waited until ${formatInstant(at)}, and nothing ended the wait before`);
    }
    if (!message) return void add('recipient', 'unknown', NEEDS_EVENTS);
    add('recipient', 'passed', `recipient of the rule, with unique_id ${message.uniqueId}`);
    return void add('address', 'passed', message.to ?? '');
  }
  const nothing = outcomeWithoutFiring(rule, bindingsOf(event), new StepBudget());
  const isFalse = nothing?.kind === 'not_fired' && rule.memory?.readsPrevious !== true;
  if (isFalse) add('condition', 'stopped', '`when` is false', lines);
  else add('condition', 'unknown', HELD_BACK, lines);
}

/** Returns why a rule ignores events of this stream, or null if it does not. */
export function problemOf(placed: PlacedRule | undefined, { stream }: SourceEvent): string | null {
  if (!placed) return 'there is no such rule';
  if (placed.stream !== stream) return `the rule listens on ${placed.stream}, and the event came on ${stream}`;
  return placed.enabled ? null : 'the rule or its notification is switched off';
}

/** Adds the gates of a rule that fires without making the message. */
function* passRecipient(rowSide: RowSide, fired: FiredRule, context: CompareContext, add: AddGate): Coroutine<void> {
  const { other } = rowSide;
  const found = yield* recipientsOf(rowSide, fired, context);
  if (!found) return void add('recipient', 'unknown', 'no recorded answer of the partner is left');
  const { recipients, dropped } = found;
  const isMeant = ({ recipient }: Named): boolean => recipient.uniqueId === other?.uniqueId;
  // The address may be part of `unique_id`, so a recipient without an address has another one.
  const isThem = ({ recipient }: Named): boolean => recipient.person === other?.person;
  for (const named of [...recipients.filter(isMeant), ...recipients.filter(isThem)]) {
    const problem = addressProblemOf(named, rowSide, fired, context);
    if (problem === null) continue;
    add('recipient', 'passed', `recipient of the rule, with unique_id ${named.recipient.uniqueId}`);
    return void add('address', 'stopped', problem);
  }
  const count = recipients.length === 1 ? '1 recipient' : `${recipients.length} recipients`;
  add('recipient', 'stopped', `not among the ${count} of the rule`, dropLines('recipient', dropped));
}

/** Returns why a recipient gets no message on the row's channel, or null if they do. */
function addressProblemOf(
  { recipient, cause }: Named,
  { row: { channel }, side }: RowSide,
  { placed }: FiredRule,
  { book, configurations }: CompareContext,
): string | null {
  const messages = makeMessages(placed, cause, recipient, { configuration: configurations[side], book });
  const wanted = messages.find((message) => message.channel === channel);
  if (!wanted) return `the notification has no channel ${channel}`;
  if (wanted.to === null) return `no address for ${channel}`;
  return canonicalAddress(channel, wanted.to) === null ? `the address ${wanted.to} is not valid` : null;
}

type Named = { readonly recipient: Recipient; readonly cause: Cause };
type NamedRecipients = { readonly recipients: readonly Named[]; readonly dropped: readonly Dropped[] };

/**
 * Returns the recipients of a rule that fires. For a rule with a lookup they come from recorded answers. Null if an
 * answer that the run used is no longer stored.
 */
function* recipientsOf(
  { event, side }: RowSide,
  { fired, outcome, placed }: FiredRule,
  { book, configurations, findAnswer, ids }: CompareContext,
): Coroutine<NamedRecipients | null> {
  if (outcome.kind === 'fired' || fired.from !== 'lookup') {
    const named = outcome.kind === 'fired' ? outcome.recipients : [];
    const cause = causeOfEvent(event, placed);
    return { recipients: named.map((recipient) => ({ recipient, cause })), dropped: outcome.dropped };
  }
  const making = { configuration: configurations[side], book, derive: ids.derive, runId: null };
  const recipients: Named[] = [];
  const dropped: Dropped[] = [...outcome.dropped];
  for (const trigger of makeTriggers(fired, event, outcome.userIds, making)) {
    const items = itemsFor(trigger, findAnswer(ruleIdOf(placed), event.id, trigger.part));
    if (items === null) return null;
    const found = yield* findRecipientsOf(fired, { trigger, items });
    const cause = causeOfTrigger(trigger);
    recipients.push(...found.recipients.map((recipient) => ({ recipient, cause })));
    dropped.push(...found.dropped);
  }
  return { recipients, dropped };
}
