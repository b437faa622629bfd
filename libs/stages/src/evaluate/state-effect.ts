import type { PassedWait, RuleMemory, RuleStep } from '@carillon/domain/rules';

/** What a record did to a rule with state, beside its outcome. */
export type StateEffect = 'wait_started' | 'wait_cancelled' | 'in_cooldown' | 'fired_by_deadline';

const fires = ({ outcome }: Pick<RuleStep, 'outcome'>): boolean => outcome.kind === 'fired' || outcome.kind === 'asks';

/** Returns what an event did. Null: nothing that is counted. */
export function effectOfEvent(before: RuleMemory | undefined, step: RuleStep): StateEffect | null {
  if (step.deadline !== null && fires(step)) return 'fired_by_deadline';
  const { decision } = step;
  if (decision?.saw['kind'] === 'in_cooldown') return 'in_cooldown';
  const waited = before?.wait !== undefined;
  const waits = step.memory?.wait !== undefined;
  if (waits === waited) return null;
  return waits ? 'wait_started' : 'wait_cancelled';
}

/** Returns what a passed deadline did. A deadline at which an enabled rule does not fire is in cooldown. */
export function effectOfDeadline(passed: PassedWait): StateEffect | null {
  if (fires(passed)) return 'fired_by_deadline';
  return passed.outcome.kind === 'not_fired' ? 'in_cooldown' : null;
}
