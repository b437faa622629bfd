import { LIMITS } from './limits.ts';

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
