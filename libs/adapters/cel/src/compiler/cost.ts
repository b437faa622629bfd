import {
  CALL,
  CLOCK_IN_ZONE,
  CLOCK_UTC,
  NUMBER_FROM_TEXT,
  searchBackPrice,
  searchPrice,
  SPAN_FROM_TEXT,
  TEXT_READ,
  TIME_FROM_TEXT,
} from '../runtime/prices.ts';
import { CLOCK_READERS } from '../runtime/time.ts';
import type { Plan } from './plan.ts';
import { partsOf } from './plan.ts';

/** How long a list of an event is taken to be before there is an event. Longer ones meet the step budget at run time. */
const ASSUMED_LIST = 100;
/** Steps that an expression may be expected to take. */
export const COST_LIMIT = 1_000_000;

const sum = (plans: readonly Plan[], of: (plan: Plan) => number): number =>
  plans.reduce((total, plan) => total + of(plan), 0);

/** Returns the steps of one iteration of this body. Inner loops are charged separately. */
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

/** How long a text is taken to be before there is an event: one of the event itself, and one of an item or of a list. */
const LARGE_TEXT = 10_000;
const ITEM_TEXT = 500;

/** Steps on an event with long lists and long texts. An event may ask for more; this says what is worth a warning. */
export function largeSteps(plan: Plan): number {
  if (plan.op !== 'loop') return 1 + ownSteps(plan) + sum(partsOf(plan), largeSteps);
  const bound = plan.over.op === 'list' ? plan.over.items.length : ASSUMED_LIST;
  return 1 + largeSteps(plan.over) + bound * (largeSteps(plan.test) + (plan.make ? largeSteps(plan.make) : 0));
}

/** What a node takes beside its parts. */
function ownSteps(plan: Plan): number {
  if (plan.op === 'matches') return plan.pattern.price(textLength(plan.of));
  return plan.op === 'call' ? CALL + callSteps(plan.name, plan.args) : 0;
}

function callSteps(name: string, args: readonly Plan[]): number {
  const [text = 0, sought = 0] = args.map(textLength);
  if (Object.hasOwn(CLOCK_READERS, name)) return args.length > 1 ? CLOCK_IN_ZONE : CLOCK_UTC;
  switch (name) {
    case 'contains':
    case 'indexOf':
    case 'split':
    case 'replace':
      return text * TEXT_READ + searchPrice(text, sought);
    case 'lastIndexOf':
      return text * TEXT_READ + searchBackPrice(text, sought);
    case 'timestamp':
      return TIME_FROM_TEXT;
    case 'duration':
      return SPAN_FROM_TEXT;
    case 'int':
    case 'uint':
    case 'double':
      return NUMBER_FROM_TEXT;
    case 'lowerAscii':
    case 'upperAscii':
    case 'trim':
    case 'startsWith':
    case 'endsWith':
      return text * TEXT_READ;
    default:
      return 0;
  }
}

function textLength(plan: Plan): number {
  if (plan.op === 'literal') return typeof plan.value === 'string' ? plan.value.length : 0;
  return isOfItem(plan) ? ITEM_TEXT : LARGE_TEXT;
}

const isOfItem = (plan: Plan): boolean =>
  plan.op === 'local' || (plan.op === 'root' && plan.name !== 'event') || partsOf(plan).some((part) => isOfItem(part));
