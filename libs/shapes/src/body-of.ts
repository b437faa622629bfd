import type { z } from 'zod';

/** A value whose fields are all read-only. */
type Fixed<Value> = Value extends readonly (infer Item)[]
  ? readonly Fixed<Item>[]
  : Value extends object
    ? { readonly [Key in keyof Value]: Fixed<Value[Key]> }
    : Value;

/** The read-only value that a shape describes. */
export type Of<Shape extends z.ZodType> = Fixed<z.output<Shape>>;
