/** Colours of states; `doubt` means IN_DOUBT and nothing else ever. */
export type Tone = 'good' | 'wait' | 'held' | 'bad' | 'doubt' | 'none';

const TONES: Readonly<Record<string, Tone>> = {
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

export const toneOf = (state: string): Tone => TONES[state.toUpperCase()] ?? 'none';

/** A word of the ledger as people read it: `IN_DOUBT` is "In doubt", `held_by_limit` is "held by limit". */
export const humane = (word: string): string => word.replaceAll('_', ' ');
export function stateWords(state: string): string {
  const words = humane(state.toLowerCase());
  return `${words.slice(0, 1).toUpperCase()}${words.slice(1)}`;
}
