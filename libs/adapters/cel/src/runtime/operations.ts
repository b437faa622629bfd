import { add, divide, multiply, remainder, subtract } from './arithmetic.ts';
import { contained, equal, greater, greaterOrEqual, less, lessOrEqual, unequal } from './comparison.ts';
import type { Meter } from './meter.ts';
import type { Value } from './values.ts';
import { CelError } from './values.ts';

type Operation = (meter: Meter, left: Value, right: Value) => Value;

/** The operations of two operands by their sign in CEL; generated code and closures share them. */
export const BINARY_OPERATIONS = {
  '==': equal,
  '!=': unequal,
  '<': less,
  '<=': lessOrEqual,
  '>': greater,
  '>=': greaterOrEqual,
  in: contained,
  '+': add,
  '-': subtract,
  '*': multiply,
  '/': divide,
  '%': remainder,
} as const satisfies Record<string, Operation>;

/** The name under which a frame has an error in place of a row that is used as a whole. */
export const wholeName = (name: string): string => `whole_${name}`;

/** The error of a name that this evaluation does not set, such as `item` without `for_each`. */
export const unsetName = (name: string): CelError => new CelError(`${name} is not set here`);
