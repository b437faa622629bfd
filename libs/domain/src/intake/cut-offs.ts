import type { Instant } from '@carillon/kernel';

/** Why the gateway refuses a request or cuts a connection off for the sake of others, in words for people. */
export const INTAKE_CUT_OFFS = {
  connections: 'more connections than the port or one address may have',
  pipelined: 'more requests on one connection than are answered',
  full: 'the limit of open requests or bytes was reached',
  others_need: 'clients with the most open requests were cut off for others',
  slow: 'bodies arrived slower than 1 KB/s',
  too_many_slow: 'one sender had too many slow bodies',
  unproved: 'more requests with tokens or signatures than can be proved at once',
} as const;
export type IntakeCutOff = keyof typeof INTAKE_CUT_OFFS;
export const intakeCutOffs = Object.keys(INTAKE_CUT_OFFS) as readonly IntakeCutOff[];

const MINUTE = 60_000;
/** Minutes that are counted separately, per reason. */
export const CUT_OFF_MINUTES = 60;

export const minuteOf = (at: Instant): number => Math.floor(at / MINUTE);

/** The name under which a store keeps the newest time at which this happened in this minute of an hour. */
export const cutOffName = (why: IntakeCutOff, minute: number): string => `cut_off:${why}:${minute % CUT_OFF_MINUTES}`;

export const cutOffNames = (why: IntakeCutOff): readonly string[] =>
  Array.from({ length: CUT_OFF_MINUTES }, (_, minute) => cutOffName(why, minute));

/** The times of the last hour among those that the store keeps: one at most of each minute. */
export const cutOffsWithinHour = (kept: Iterable<Instant>, now: Instant): readonly Instant[] =>
  [...kept].filter((at) => minuteOf(at) > minuteOf(now) - CUT_OFF_MINUTES);
