import { humane } from '../../ui/state-words.ts';

/** Reasons that only repeat what the state says already. */
const PLAIN = new Set(['new', 'accepted', 'duplicate', 'disabled', 'when_false', 'rule_error']);

/** A reason as people say it; null where it says nothing. */
export const reasonWords = (reason: string | null): string | null =>
  reason !== null && !PLAIN.has(reason) ? humane(reason) : null;

type Standing = { readonly reason: string; readonly detail: string };

/** Why something stands where it stands, where there is more to say than the state. */
export function whyWords({ reason, detail }: Standing): string | null {
  const words = reasonWords(reason);
  if (words !== null && detail !== '') return `${words}: ${detail}`;
  return words ?? (detail === '' ? null : detail);
}
