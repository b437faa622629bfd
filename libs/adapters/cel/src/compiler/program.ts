import type { Meter } from '../runtime/meter.ts';
import type { Value } from '../runtime/values.ts';

/** Values by name. Reading an unset name gives an error value. */
export type Frame = { readonly [name: string]: Value | undefined };

/** A plan made ready to run. It never throws, save where the stack ends. */
export type Run = (frame: Frame, meter: Meter) => Value;
