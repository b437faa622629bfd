import { z } from 'zod';
import type { ValuePath } from '../value-path.ts';

type Leaf = (schema: z.core.$ZodType, value: unknown, path: ValuePath) => unknown;

/**
 * Copies a valid value along its schema: keys in the schema's order, and each leaf replaced by the result of `leaf`.
 * Readers and writers find expressions this way, without a second list of their paths.
 */
export function walkShape(schema: z.core.$ZodType, value: unknown, leaf: Leaf, path: ValuePath = []): unknown {
  if (value === undefined) return undefined;
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodExactOptional) {
    return walkShape(schema.unwrap(), value, leaf, path);
  }
  if (schema instanceof z.ZodUnion) {
    const option = schema.options.find((candidate) => z.safeParse(candidate, value).success);
    return option ? walkShape(option, value, leaf, path) : value;
  }
  if (schema instanceof z.ZodArray) {
    return (value as unknown[]).map((item, index) => walkShape(schema.element, item, leaf, [...path, index]));
  }
  if (schema instanceof z.ZodObject) {
    const object = value as Record<string, unknown>;
    const present = Object.entries(schema.shape).filter(([name]) => object[name] !== undefined);
    return Object.fromEntries(
      present.map(([name, inner]) => [name, walkShape(inner as z.core.$ZodType, object[name], leaf, [...path, name])]),
    );
  }
  if (schema instanceof z.ZodRecord) {
    return Object.fromEntries(
      Object.entries(value as object).map(([name, item]) => [
        name,
        walkShape(schema.valueType, item, leaf, [...path, name]),
      ]),
    );
  }
  return leaf(schema, value, path);
}
