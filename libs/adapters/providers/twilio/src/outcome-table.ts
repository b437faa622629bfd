import type { ProviderVerdict } from '@carillon/domain/deliveries';

/** What an answer of Twilio means for the message, the number and the account. */
export type Outcome = {
  readonly verdict: Exclude<ProviderVerdict, 'accepted'>;
  /** Suppression of the number, because it does not exist or its owner replied STOP. */
  readonly suppress: 'hard_bounce' | 'stop' | null;
  /** Somebody has to change the account or the content. */
  readonly alert: boolean;
};

const refusedNumber: Outcome = { verdict: 'refused_recipient', suppress: 'hard_bounce', alert: false };
const refusedAccount: Outcome = { verdict: 'refused_account', suppress: null, alert: true };
const refusedContent: Outcome = { verdict: 'refused_content', suppress: null, alert: false };
const throttled: Outcome = { verdict: 'throttled', suppress: null, alert: false };

/**
 * Twilio's own codes (docs/internals/provider-outcomes.md; https://www.twilio.com/docs/api/errors). Data, not code: Twilio changes
 * them and advises against logic that knows them by heart. What is not here is judged by its status.
 */
export const CODES: ReadonlyMap<number, Outcome> = new Map([
  [20429, throttled],
  [10001, refusedAccount],
  [20003, refusedAccount],
  [20005, refusedAccount],
  [20404, refusedAccount],
  [21408, refusedAccount],
  [21606, refusedAccount],
  [21612, refusedAccount],
  [21659, refusedAccount],
  [30002, refusedAccount],
  [30034, refusedAccount],
  [21211, refusedNumber],
  [21217, refusedNumber],
  [21614, refusedNumber],
  [21635, refusedNumber],
  [21610, { verdict: 'refused_recipient', suppress: 'stop', alert: false }],
  [21602, refusedContent],
  [21617, refusedContent],
  [30007, { ...refusedContent, alert: true }],
]);

/**
 * Returns the meaning of a complete response other than 2xx. A 4xx is definite. A 5xx is not, because Twilio may have
 * accepted the message before it failed. Any other status is not from Twilio, so the account's URL is wrong.
 */
export function classify(status: number, code: number | null): Outcome {
  const known = code === null ? undefined : CODES.get(code);
  if (status >= 400 && status < 500) {
    if (known) return known;
    if (status === 429) return throttled;
    return status === 401 || status === 403 || status === 404 ? refusedAccount : refusedContent;
  }
  if (status >= 500) return { verdict: 'ambiguous', suppress: null, alert: false };
  return refusedAccount;
}
