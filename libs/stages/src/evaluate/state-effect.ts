import type { PassedWait, RuleMemory, RuleStep } from '@carillon/domain/rules';

/** Effect of a record on a rule with state, besides the outcome. */
export type StateEffect = 'wait_started' | 'wait_cancelled' | 'in_cooldown' | 'fired_by_deadline';

const fires = ({ outcome }: Pick<RuleStep, 'outcome'>): boolean => outcome.kind === 'fired' || outcome.kind === 'asks';

/** Returns the effect of an event. Null if there is none to count. */
export function effectOfEvent(before: RuleMemory | undefined, step: RuleStep): StateEffect | null {
  if (step.deadline !== null && fires(step)) return 'fired_by_deadline';
  const { decision } = step;
  if (decision?.saw['kind'] === 'in_cooldown') return 'in_cooldown';
  const waited = before?.wait !== undefined;
  const waits = step.memory?.wait !== undefined;
  if (waits === waited) return null;
  return waits ? 'wait_started' : 'wait_cancelled';
}

/** Returns the effect of a passed deadline. An enabled rule that does not fire at a deadline is in cooldown. */
export function effectOfDeadline(passed: PassedWait): StateEffect | null {
  if (fires(passed)) return 'fired_by_deadline';
  return passed.outcome.kind === 'not_fired' ? 'in_cooldown' : null;
}
