import { jsonTypeOf, type JsonType } from '@carillon/domain/events';
import type { Json } from '@carillon/kernel';
import { Uint } from '../runtime/values.ts';
import type { Plan } from './plan.ts';
import { partsOf } from './plan.ts';

type Expected = JsonType | null;

/** A literal as JSON; integers that doubles hold are numbers. Undefined where JSON has no such value. */
export function jsonOfLiteral(plan: Plan): Json | undefined {
  if (plan.op === 'negate' && plan.of.op === 'literal' && typeof plan.of.value === 'number') return -plan.of.value;
  if (plan.op !== 'literal') return undefined;
  const value = plan.value instanceof Uint ? plan.value.whole : plan.value;
  if (typeof value === 'bigint') return Number.isSafeInteger(Number(value)) ? Number(value) : value;
  return value === null || typeof value !== 'object' ? value : undefined;
}

const literalType = (plan: Plan): Expected => {
  const value = jsonOfLiteral(plan);
  return value === undefined || value === null ? null : jsonTypeOf(value);
};

/** Methods of texts whose arguments are texts too, and functions that read a text. */
const ON_TEXT: ReadonlySet<string> = new Set([
  'startsWith',
  'endsWith',
  'contains',
  'indexOf',
  'lastIndexOf',
  'lowerAscii',
  'upperAscii',
  'trim',
  'split',
  'timestamp',
  'duration',
]);

/** Returns the types that the parts of a plan need for it to have a value, in the order of `partsOf`. */
export function expectedTypes(plan: Plan): readonly Expected[] {
  switch (plan.op) {
    case 'and':
    case 'or':
      return ['boolean', 'boolean'];
    case 'not':
    case 'choose':
      return ['boolean'];
    case 'negate':
      return ['number'];
    case 'matches':
      return ['string'];
    case 'fallback':
      return [literalType(plan.other)];
    case 'call':
      return partsOf(plan).map(() => (ON_TEXT.has(plan.name) ? 'string' : null));
    case 'loop':
      return ['array', plan.kind === 'map' ? null : 'boolean'];
    case 'changed': {
      const type = plan.to && literalType(plan.to);
      return [type, type];
    }
    case 'binary':
      return operandTypes(plan);
    case 'literal':
    case 'root':
    case 'local':
    case 'field':
    case 'optional_field':
    case 'has':
    case 'index':
    case 'optional_index':
    case 'list':
    case 'map':
    case 'bind':
      return [];
  }
}

function operandTypes({ name, left, right }: Extract<Plan, { op: 'binary' }>): readonly Expected[] {
  if (name === '-' || name === '*' || name === '/' || name === '%') return ['number', 'number'];
  if (name !== 'in') return [literalType(right), literalType(left)];
  const first = right.op === 'list' ? right.items[0] : undefined;
  return [first ? literalType(first) : null, 'array'];
}
