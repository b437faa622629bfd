import type { Meter } from '../runtime/meter.ts';
import type { Value } from '../runtime/values.ts';

/** What the names mean, by name; one that is not set is an error value when it is read. */
export type Frame = { readonly [name: string]: Value | undefined };

/** A plan made ready to run. It never throws, save where the stack ends. */
export type Run = (frame: Frame, meter: Meter) => Value;
