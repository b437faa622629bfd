import type { Value } from './values.ts';
import { CelError, noOverload } from './values.ts';

const notBool = (sign: string, value: Value): CelError => (value instanceof CelError ? value : noOverload(sign, value));

/** `&&` where the left is not false: false on the right absorbs whatever the left is. */
export function andRest(left: Value, right: Value): Value {
  if (right === false) return false;
  if (left !== true) return notBool('&&', left);
  return right === true ? true : notBool('&&', right);
}

/** `||` where the left is not true. */
export function orRest(left: Value, right: Value): Value {
  if (right === true) return true;
  if (left !== false) return notBool('||', left);
  return right === false ? false : notBool('||', right);
}

export const notTest = (test: Value): Value => notBool('?:', test);
