import type { Outcome } from '../src/outcome-table.ts';

/** Status and code of an answer, what it means for the message, and which list the number goes on. */
type Row = readonly [status: number, code: number | null, verdict: Outcome['verdict'], suppress: Outcome['suppress']];

/** Codes of docs/internals/provider-outcomes.md that respond to a request, and unknown codes. */
export const ANSWERS: readonly Row[] = [
  [429, null, 'throttled', null],
  [429, 20429, 'throttled', null],
  [401, 20003, 'refused_account', null],
  [403, 20005, 'refused_account', null],
  [400, 10001, 'refused_account', null],
  [404, 20404, 'refused_account', null],
  [400, 21408, 'refused_account', null],
  [400, 21612, 'refused_account', null],
  [400, 21606, 'refused_account', null],
  [400, 21659, 'refused_account', null],
  [400, 30034, 'refused_account', null],
  [400, 30002, 'refused_account', null],
  [400, 21211, 'refused_recipient', 'hard_bounce'],
  [400, 21217, 'refused_recipient', 'hard_bounce'],
  [400, 21614, 'refused_recipient', 'hard_bounce'],
  [400, 21635, 'refused_recipient', 'hard_bounce'],
  [400, 21610, 'refused_recipient', 'stop'],
  [400, 21602, 'refused_content', null],
  [400, 21617, 'refused_content', null],
  [400, 30007, 'refused_content', null],
  // What nobody has heard of yet.
  [400, 99_999, 'refused_content', null],
  [422, null, 'refused_content', null],
  [401, null, 'refused_account', null],
  [500, null, 'ambiguous', null],
  [503, 20503, 'ambiguous', null],
  // A gateway in front of Twilio may repeat a known code; the status still says that nobody knows.
  [502, 21211, 'ambiguous', null],
  [302, null, 'refused_account', null],
];
