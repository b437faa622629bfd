/** Colours of states; `doubt` means IN_DOUBT and nothing else ever. */
export type Tone = 'good' | 'wait' | 'held' | 'bad' | 'doubt' | 'none';

/** In the order in which charts stack them. */
export const TONES: readonly Tone[] = ['good', 'wait', 'held', 'bad', 'doubt', 'none'];

const TONE_OF: Readonly<Record<string, Tone>> = {
  SENT: 'good',
  DELIVERED: 'good',
  WAITING: 'wait',
  SENDING: 'wait',
  COLLECTED: 'wait',
  DIGESTED: 'wait',
  SUPPRESSED: 'held',
  FAILED: 'bad',
  BOUNCED: 'bad',
  COMPLAINED: 'bad',
  IN_DOUBT: 'doubt',
  EXPIRED: 'none',
  CANCELLED: 'none',
};

export const toneOf = (state: string): Tone => TONE_OF[state.toUpperCase()] ?? 'none';

/** A word of the ledger as people read it: `IN_DOUBT` is "In doubt", `held_by_limit` is "held by limit". */
export const humane = (word: string): string => word.replaceAll('_', ' ');
export function stateWords(state: string): string {
  const words = humane(state.toLowerCase());
  return `${words.slice(0, 1).toUpperCase()}${words.slice(1)}`;
}

/** Numbers by state of the ledger, put together by colour. */
export function byTone(states: Readonly<Record<string, number>>): Readonly<Partial<Record<Tone, number>>> {
  const sums: Partial<Record<Tone, number>> = {};
  for (const [state, count] of Object.entries(states)) sums[toneOf(state)] = (sums[toneOf(state)] ?? 0) + count;
  return sums;
}

/** What deliveries of one colour are called together. */
export const TONE_NAMES: Readonly<Record<Tone, string>> = {
  good: 'Sent',
  wait: 'Waiting',
  held: 'Held back',
  bad: 'Failed',
  doubt: 'In doubt',
  none: 'Ended unsent',
};
