import type { Delivery } from './queries.ts';

/** Returns why a delivery is in its state, or null if there is no more to say than the state. */
export function whyText({
  reason_words: short,
  sentence,
  detail,
}: Pick<Delivery, 'reason_words' | 'sentence' | 'detail'>): string | null {
  if (short === null) return detail === '' ? null : detail;
  const why = `${sentence.slice(0, 1).toUpperCase()}${sentence.slice(1)}`;
  return detail === '' ? why : `${why}: ${detail}`;
}
