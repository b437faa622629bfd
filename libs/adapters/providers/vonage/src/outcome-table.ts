import type { ProviderVerdict } from '@carillon/domain/deliveries';

/** Effect of an error on the message, the number and the account. */
export type Outcome = {
  readonly verdict: Exclude<ProviderVerdict, 'accepted'>;
  /** Set if the number gets no SMS any more: it does not exist, or its owner said STOP. */
  readonly suppress: 'hard_bounce' | 'stop' | null;
  /** True if somebody has to change the account or the content. */
  readonly alert: boolean;
};

const outcome = (verdict: Outcome['verdict'], more: Partial<Outcome> = {}): Outcome => ({
  verdict,
  suppress: null,
  alert: false,
  ...more,
});
const throttled = outcome('throttled');
const transient = outcome('transient');
const ambiguous = outcome('ambiguous');
const refusedContent = outcome('refused_content');
const refusedAccount = outcome('refused_account', { alert: true });
const refusedRecipient = outcome('refused_recipient');
const deadNumber = outcome('refused_recipient', { suppress: 'hard_bounce' });

type Row = { readonly outcome: Outcome; readonly words: string };

/**
 * Errors of the Messages API by code: https://developer.vonage.com/api-errors/messages. Vonage uses the same codes in responses and
 * in status callbacks. A code that is missing here counts by the HTTP status, or as a plain bounce.
 *
 * - Retried: 1000 and 1241 (rate), 1100 ("message was not submitted because there was a communication failure").
 * - In doubt: 1030 ("an error processing your request in the platform") does not say whether the message was taken.
 * - The number is suppressed if Vonage says that it is not active or invalid (1170, 1190) or has opted out (1240). A number that is
 *   barred (1050) or that the carrier blocks (1280) may be reached later or through another sender, so it stays.
 */
export const CODES: ReadonlyMap<string, Row> = new Map<string, Row>([
  ['1000', { outcome: throttled, words: 'too many requests for the account' }],
  ['1030', { outcome: ambiguous, words: 'internal error of Vonage' }],
  ['1040', { outcome: refusedRecipient, words: 'unknown prefix of the number' }],
  ['1050', { outcome: refusedRecipient, words: 'the number is barred' }],
  ['1060', { outcome: refusedAccount, words: 'the Vonage account is barred' }],
  ['1070', { outcome: refusedAccount, words: 'the Vonage account has no credit' }],
  ['1080', { outcome: refusedAccount, words: 'the Vonage account may not use this API' }],
  ['1100', { outcome: transient, words: 'communication failure before the message was submitted' }],
  ['1120', { outcome: refusedAccount, words: 'the country does not allow the sender' }],
  ['1140', { outcome: refusedAccount, words: 'the Vonage account may not use this facility' }],
  ['1160', { outcome: refusedAccount, words: 'the trial account may not send to this number' }],
  ['1170', { outcome: deadNumber, words: 'no such number' }],
  ['1180', { outcome: refusedRecipient, words: 'the phone could not be reached' }],
  ['1190', { outcome: deadNumber, words: 'the number is not active any more' }],
  ['1210', { outcome: { ...refusedContent, alert: true }, words: 'the carrier filtered it as spam' }],
  ['1220', { outcome: refusedRecipient, words: 'the phone was busy' }],
  ['1240', { outcome: outcome('refused_recipient', { suppress: 'stop' }), words: 'the number has said STOP' }],
  ['1241', { outcome: throttled, words: 'too many messages to the number' }],
  ['1280', { outcome: refusedRecipient, words: 'the carrier blocks the number' }],
  ['1360', { outcome: refusedRecipient, words: 'not delivered before it expired' }],
]);

/**
 * Returns the outcome of a response other than 2xx. A 4xx is final: Vonage validates before it submits. A 5xx is in doubt, because
 * Vonage may have taken the message before it failed. Another status is not one of Vonage, so the URL of the account is wrong.
 * 402 means that the account has no credit (https://developer.vonage.com/en/api/messages).
 */
export function classify(status: number, code: string): Outcome {
  if (status >= 500) return ambiguous;
  if (status < 400) return refusedAccount;
  const known = CODES.get(code);
  if (known) return known.outcome;
  if (status === 429) return throttled;
  return [401, 402, 403, 404].includes(status) ? refusedAccount : refusedContent;
}
