import type { RequiredField, Requirement } from '@carillon/domain/rules';
import type { Json } from '@carillon/kernel';
import { jsonOfLiteral } from './expected-types.ts';
import type { ChangedPlan, Plan } from './plan.ts';
import { isPath, referenceOf, withElement, type Locals } from './references.ts';

const UNKNOWN: Requirement = { kind: 'unknown' };
const ALWAYS: Requirement = { kind: 'all', of: [] };
const NEVER: Requirement = { kind: 'any', of: [] };

/** What fields have to hold for a plan to be true (`holds`) or false. A negation goes down to the comparisons. */
export function requirementOf(plan: Plan, holds = true, locals: Locals = new Map()): Requirement {
  const inner = (part: Plan, wanted = holds): Requirement => requirementOf(part, wanted, locals);
  switch (plan.op) {
    case 'literal':
      return plan.value === holds ? ALWAYS : NEVER;
    case 'and':
    case 'or':
      return both((plan.op === 'and') === holds ? 'all' : 'any', inner(plan.left), inner(plan.right));
    case 'not':
      return inner(plan.of, !holds);
    case 'choose':
      return both(
        'any',
        both('all', inner(plan.test, true), inner(plan.chosen)),
        both('all', inner(plan.test, false), inner(plan.otherwise)),
      );
    case 'has':
      return about(plan, locals, (field) => ({ kind: 'present', field, holds }));
    case 'binary':
      return comparison(plan, holds, locals);
    case 'call':
      return textTest(plan, holds, locals);
    case 'loop':
      return plan.kind === 'filter' || plan.kind === 'map'
        ? UNKNOWN
        : requirementOf(plan.test, holds, withElement(plan, locals));
    case 'bind': {
      const value = referenceOf(plan.value, locals);
      return value ? requirementOf(plan.body, holds, new Map([...locals, [plan.slot, value] as const])) : UNKNOWN;
    }
    case 'root':
    case 'local':
    case 'field':
    case 'optional_field':
    case 'index':
    case 'optional_index':
    case 'fallback':
      return about(plan, locals, (field) => oneOf(field, [holds], true));
    case 'changed':
      return changeOf(plan, holds, locals);
    case 'matches':
    case 'negate':
    case 'list':
    case 'map':
      return UNKNOWN;
  }
}

const both = (kind: 'all' | 'any', ...of: readonly Requirement[]): Requirement => ({ kind, of });

/** A path, or a path with what counts where it leads nowhere: the value is looked for at its end all the same. */
const isField = (plan: Plan): boolean => isPath(plan) || (plan.op === 'fallback' && isField(plan.of));

function about(plan: Plan, locals: Locals, make: (field: RequiredField) => Requirement): Requirement {
  const found = isField(plan) ? referenceOf(plan, locals) : undefined;
  return found && !found.dynamic ? make({ root: found.root, steps: found.steps }) : UNKNOWN;
}

const oneOf = (field: RequiredField, values: readonly Json[], holds: boolean): Requirement => ({
  kind: 'one_of',
  field,
  values,
  holds,
});

const MIRRORED = { '<': '>', '<=': '>=', '>': '<', '>=': '<=' } as const;
const OPPOSITE = { '<': '>=', '<=': '>', '>': '<=', '>=': '<' } as const;

function comparison(plan: Extract<Plan, { op: 'binary' }>, holds: boolean, locals: Locals): Requirement {
  const { name, left, right } = plan;
  if (name === 'in') return membership(left, right, holds, locals);
  const onLeft = isField(left);
  const value = jsonOfLiteral(onLeft ? right : left);
  if (value === undefined) return UNKNOWN;
  return about(onLeft ? left : right, locals, (field) => {
    if (name === '==' || name === '!=') return oneOf(field, [value], (name === '==') === holds);
    if (name !== '<' && name !== '<=' && name !== '>' && name !== '>=') return UNKNOWN;
    if (typeof value !== 'number' && typeof value !== 'bigint' && typeof value !== 'string') return UNKNOWN;
    const is = onLeft ? name : MIRRORED[name];
    return { kind: 'order', field, is: holds ? is : OPPOSITE[is], than: value };
  });
}

/** `field in ["a", "b"]`, `"a" in field` of a list or of an object. */
function membership(left: Plan, right: Plan, holds: boolean, locals: Locals): Requirement {
  if (right.op === 'list') {
    const values = right.items.map(jsonOfLiteral);
    const known = values.filter((value) => value !== undefined);
    return known.length === values.length ? about(left, locals, (field) => oneOf(field, known, holds)) : UNKNOWN;
  }
  const value = jsonOfLiteral(left);
  if (value === undefined) return UNKNOWN;
  return about(right, locals, (field) => {
    const list: Requirement = { kind: 'includes', field, value, holds };
    if (typeof value !== 'string') return list;
    const member: Requirement = { kind: 'present', field: { ...field, steps: [...field.steps, value] }, holds };
    if (field.steps.length === 0) return member;
    return both('any', list, member);
  });
}

/** An update from one value to another. The opposite is no update, or one of the values is another. */
function changeOf({ of, before, from, to }: ChangedPlan, holds: boolean, locals: Locals): Requirement {
  const [left, reached] = [from, to].map((value) => (value === null ? undefined : jsonOfLiteral(value)));
  if ((from !== null && left === undefined) || (to !== null && reached === undefined)) return UNKNOWN;
  const update: Requirement = oneOf({ root: 'op', steps: [] }, ['update'], holds);
  const differs = about(before, locals, (field) => ({ kind: 'differs', field }));
  if (reached === undefined) return holds ? both('all', update, differs) : UNKNOWN;
  const now = about(of, locals, (field) => oneOf(field, [reached], holds));
  const earlier = about(before, locals, (field) =>
    left === undefined ? oneOf(field, [reached], !holds) : oneOf(field, [left], holds),
  );
  if (!holds) return both('any', update, now, earlier);
  return left === undefined ? both('all', update, now, earlier, differs) : both('all', update, now, earlier);
}

function textTest({ name, args }: Extract<Plan, { op: 'call' }>, holds: boolean, locals: Locals): Requirement {
  const [on, sought] = args;
  const text = sought ? jsonOfLiteral(sought) : undefined;
  if (name !== 'startsWith' && name !== 'endsWith' && name !== 'contains') return UNKNOWN;
  if (!on || typeof text !== 'string') return UNKNOWN;
  return about(on, locals, (field) => ({ kind: 'text', field, is: name, text, holds }));
}
