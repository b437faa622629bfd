import { ruleIdOf, type PlacedRule } from '@carillon/domain/configuration';
import { gatesOfForms, waitingRule } from '@carillon/domain/rules';
import { formatInstant } from '@carillon/kernel';
import type { RuleStateStore, WaitingEntities } from '@carillon/ports';

/** Maximum entities counted for one rule, and index entries read for it. */
export const MAX_WAITING = 10_000;

export type WaitingPorts = { readonly ruleStates: Pick<RuleStateStore, 'waiting'> };

/** Returns true if entities can wait by the rule. */
export const canWait = ({ body }: Pick<PlacedRule, 'body'>): boolean => gatesOfForms(body).includes('deadline');

export const countWaiting = (placed: PlacedRule, { ruleStates }: WaitingPorts): Promise<WaitingEntities> =>
  ruleStates.waiting(waitingRule(placed.workspace, ruleIdOf(placed), placed.since), MAX_WAITING);

/** Returns such as `12 entities wait, the next until 2026-11-29T11:00:03.000Z`. */
export function describeWaiting({ count, nextDue }: WaitingEntities): string {
  const number = `${count.toLocaleString('en')}${count >= MAX_WAITING ? ' or more' : ''}`;
  const next = nextDue === null ? '' : `, ${count === 1 ? '' : 'the next '}until ${formatInstant(nextDue)}`;
  return `${number} ${count === 1 ? 'entity waits' : 'entities wait'}${next}`;
}
