import type { SourceEvent } from '@carillon/domain/events';
import {
  deadlineOf,
  decisionWords,
  gateOfDecision,
  gatesOfForms,
  isFiring,
  type Decision,
  type RuleOutcome,
} from '@carillon/domain/rules';
import { formatInstant, type Instant } from '@carillon/kernel';
import { gate, type Evidence, type Gate, type GateName, type GateResult } from './gates.ts';
import { FORGOTTEN, WITHDRAWN, type RememberedRule } from './remembered.ts';

/** Gates that a rule has because of its forms. */
export const ownGatesOf = (remembered: Pick<RememberedRule, 'placed'> | undefined): readonly GateName[] =>
  remembered ? gatesOfForms(remembered.placed.body) : [];

const SOURCE = { source: 'state' } as const;

/** Returns the gates between condition and recipients of a rule that has fired. */
export function firedGates({ placed, decisions }: RememberedRule): readonly Gate[] {
  const firing = decisions.findLast(isFiring);
  const deadline = firing ? deadlineOf(firing) : null;
  const text = deadline === null ? '' : `the rule waited until ${formatInstant(deadline)}`;
  return gatesOfForms(placed.body).map((name) =>
    gate(name, 'passed', name === 'deadline' ? text : '', { ...SOURCE, at: firing?.at ?? null }),
  );
}

const UP_TO_DEADLINE: readonly GateName[] = ['condition', 'unless', 'deadline'];

/**
 * Returns the gates of a rule with state, up to the gate that stopped the event, for a rule without a recipient of the
 * searched name. The gate `rule` is only included if it stopped the event.
 */
export function stateGates(remembered: RememberedRule, event: SourceEvent, at: Instant): readonly Gate[] {
  const { decisions, nothing, waitsUntil, isWithdrawn, forgottenAt } = remembered;
  const last = decisions.at(-1);
  const isOfOther =
    last !== undefined && last.eventId === event.id && last.waited !== undefined && last.waited !== event.id;
  if (nothing !== null && (!last || isOfOther)) return [gateOfNothing(nothing, remembered, event, at)];
  if (isWithdrawn) return [gate('rule', 'stopped', WITHDRAWN, { ...SOURCE, at })];
  if (waitsUntil !== null) {
    const waits = gate('deadline', 'waiting', `waits until ${formatInstant(waitsUntil)}`, { ...SOURCE, at });
    return [...passedBefore('deadline', remembered, at), waits];
  }
  if (!last) return [gate('condition', 'stopped', forgottenAt === null ? GONE : FORGOTTEN, { ...SOURCE, at })];
  return gatesOfLast(last, remembered, event, at);
}

const GONE = 'the decision about the event is no longer kept, and there is no message';

function gateOfNothing(nothing: RuleOutcome, { lines }: RememberedRule, { change }: SourceEvent, at: Instant): Gate {
  const facts = { at, lines, source: 'log' } as const;
  if (nothing.kind === 'disabled') return gate('rule', 'stopped', 'the rule was switched off', facts);
  if (nothing.kind === 'failed') return gate('condition', 'stopped', nothing.error, facts);
  const isSkipped = nothing.kind === 'not_fired' && nothing.because !== undefined;
  const text = isSkipped ? `the rule does not look at a ${change?.op ?? 'change'}` : 'did not fire: `when` is false';
  return gate('condition', 'stopped', text, facts);
}

function gatesOfLast(last: Decision, remembered: RememberedRule, event: SourceEvent, at: Instant): readonly Gate[] {
  const decisionText = decisionWords(last).join('; ');
  const earlier = remembered.decisions.slice(0, -1).flatMap(decisionWords);
  const stop = (
    name: GateName,
    text: string,
    evidence: readonly Evidence[] = [],
    result: GateResult = 'stopped',
  ): readonly Gate[] => {
    const stopped = gate(name, result, text, { ...SOURCE, at: last.at, lines: earlier, evidence });
    return [...passedBefore(name, remembered, at), stopped];
  };
  if (last.eventId !== event.id) {
    return stop('unless', `${decisionText}, by event ${last.eventId}`, [{ kind: 'event', id: last.eventId }]);
  }
  if (isFiring(last)) {
    return stop('recipient', `${decisionText}, but no recipient has this name`);
  }
  const isAtDeadline = last.record !== event.position.offset;
  const name = gateOfDecision(last);
  if (name === null) return stop('deadline', 'the result of the wait is no longer kept, and there is no message');
  // At the deadline, a failure outside every form of the rule comes from choosing the recipients.
  if (name === 'condition' && last.form === null && isAtDeadline) return stop('recipient', decisionText);
  return stop(name, decisionText);
}

/** Returns the gates that the event passed before the given one. */
function passedBefore(name: GateName, { placed }: RememberedRule, at: Instant): readonly Gate[] {
  if (name === 'rule') return [];
  const own: readonly GateName[] = ['condition', ...gatesOfForms(placed.body)];
  const until = UP_TO_DEADLINE.indexOf(name);
  const before = until < 0 ? UP_TO_DEADLINE : UP_TO_DEADLINE.slice(0, until);
  return before.filter((each) => own.includes(each)).map((each) => gate(each, 'passed', '', { ...SOURCE, at }));
}
