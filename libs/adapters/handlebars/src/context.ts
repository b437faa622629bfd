import { LIMITS, SMALL } from './limits.ts';

/** A reason for which a render fails that the sender can understand. Thrown inside the worker only. */
export class RenderFailure extends Error {
  override readonly name = 'RenderFailure';
}

/**
 * Copies a context so that a template finds only data: no prototypes, no getters, no functions. Integers beyond 2^53
 * become their decimal text, which is what the reader of a mail expects to see.
 */
export function plainCopy(context: unknown): unknown {
  let values = 0;
  const copy = (value: unknown, depth: number): unknown => {
    values += 1;
    if (values > LIMITS.contextValues) throw new RenderFailure(`The data has more than ${LIMITS.contextValues} values`);
    if (depth > LIMITS.contextDepth)
      throw new RenderFailure(`The data is nested more than ${LIMITS.contextDepth} deep`);
    if (typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean') return value;
    if (typeof value === 'bigint') return value.toString();
    if (typeof value !== 'object') return undefined;
    if (value === null) return null;
    if (Array.isArray(value)) return value.map((item) => copy(item, depth + 1));
    return copyObject(value, (item) => copy(item, depth + 1));
  };
  return copy(context, 0);
}

function copyObject(value: object, copy: (item: unknown) => unknown): object {
  const plain = Object.create(null) as Record<string, unknown>;
  for (const [name, item] of Object.entries(value)) plain[name] = copy(item);
  return plain;
}

/** Whether a context is data that can be read where it is (no copy, no integers beyond 2^53), and little of it. */
export function isSmall(context: unknown): boolean {
  let values = SMALL.contextValues;
  let characters = SMALL.contextCharacters;
  const isRead = (value: unknown, depth: number): boolean => {
    if (typeof value === 'string') return (characters -= value.length) >= 0;
    if (typeof value !== 'object') return typeof value === 'number' || typeof value === 'boolean';
    if (value === null) return true;
    if (depth >= LIMITS.contextDepth) return false;
    if (Array.isArray(value)) {
      if ((values -= value.length) < 0) return false;
      for (const item of value) if (!isRead(item, depth + 1)) return false;
      return true;
    }
    const record = value as Readonly<Record<string, unknown>>;
    for (const name of Object.keys(record)) {
      values -= 1;
      characters -= name.length;
      if (values < 0 || characters < 0 || !isRead(record[name], depth + 1)) return false;
    }
    return true;
  };
  return isRead(context, 0);
}
