import { durationOr, type Duration } from '@carillon/kernel';

/** The duration that is written, else the default, both as in files. `apply` has checked what is written. */
export const writtenDuration = (written: string | undefined, otherwise: string): Duration =>
  durationOr(written, durationOr(otherwise, Number.NaN));
