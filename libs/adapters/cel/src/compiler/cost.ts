import type { Plan } from './plan.ts';
import { partsOf } from './plan.ts';

/** How long a list of an event is taken to be before there is an event. Longer ones meet the step budget at run time. */
const ASSUMED_LIST = 100;
/** Steps that an expression may be expected to take. */
export const COST_LIMIT = 1_000_000;

const sum = (plans: readonly Plan[], of: (plan: Plan) => number): number =>
  plans.reduce((total, plan) => total + of(plan), 0);

/** Steps of one turn of a loop over this body; loops inside pay for themselves. */
export function turnCost(plan: Plan): number {
  if (plan.op === 'loop') return 1 + turnCost(plan.over);
  return 1 + sum(partsOf(plan), turnCost);
}

/** The static bound: the length of each list by the cost of its body. */
export function staticCost(plan: Plan): number {
  if (plan.op !== 'loop') return 1 + sum(partsOf(plan), staticCost);
  const bound = plan.over.op === 'list' ? plan.over.items.length : ASSUMED_LIST;
  const body = staticCost(plan.test) + (plan.make ? staticCost(plan.make) : 0);
  return 1 + staticCost(plan.over) + bound * body;
}
