import type { ProviderVerdict, SuppressionSource } from '@carillon/domain';
import type { Duration } from '@carillon/kernel';
import { BEFORE_MAIL, FROM_RCPT, type SmtpStage } from './stage.ts';

/** What a reply means for the message, the address and the account. */
export type Outcome = {
  readonly verdict: ProviderVerdict;
  /** The address is dead: nothing more goes there on this channel. */
  readonly suppress: Extract<SuppressionSource, 'hard_bounce'> | null;
  /** A configuration problem that the operator should see. */
  readonly alert: boolean;
  /** Not again before this much time; null leaves it to the notification's `retry`. */
  readonly wait: Duration | null;
};

/** One row: the first that fits decides. What it leaves out fits anything. */
export type OutcomeRow = Partial<Outcome> & {
  readonly verdict: ProviderVerdict;
  /** Reply codes. */
  readonly codes?: readonly number[];
  /** First digit of the reply code: 4 or 5. */
  readonly family?: 4 | 5;
  /** Enhanced codes; one that ends in a dot stands for all that begin with it. */
  readonly enhanced?: readonly string[];
  readonly stages?: readonly SmtpStage[];
};

const MINUTE = 60_000;

/**
 * Negative replies (RFC 5321, RFC 3463, RFC 6647). Data, not code: vendors change their codes. Two rows are not in the
 * table that this one follows. A refusal before the server was told of a message cannot be about the message, so it
 * parks the account in place of failing everything that waits. And an unknown mailbox counts only once a recipient was
 * named: said to MAIL it is about the sender, and must not suppress anybody.
 */
export const OUTCOME_TABLE: readonly OutcomeRow[] = [
  // Limits put on us because SPF, DKIM, DMARC or alignment is missing: slowly, and somebody has to repair it.
  {
    family: 4,
    enhanced: ['4.7.26', '4.7.27', '4.7.30', '4.7.32'],
    verdict: 'throttled',
    alert: true,
    wait: 15 * MINUTE,
  },
  { codes: [421], verdict: 'throttled' },
  // Greylisting and rate limits look alike; RFC 6647 has greylists ask for minutes.
  { codes: [450, 451], enhanced: ['4.7.'], verdict: 'throttled', wait: 5 * MINUTE },
  { codes: [452], enhanced: ['4.2.2', '4.3.1'], verdict: 'transient' },
  { family: 4, verdict: 'transient' },

  { codes: [530, 534, 535, 538], verdict: 'refused_account', alert: true },
  { family: 5, stages: BEFORE_MAIL, verdict: 'refused_account', alert: true },
  {
    // 556 5.1.10 says that the domain takes no mail at all (RFC 7505).
    codes: [550, 556],
    enhanced: ['5.1.1', '5.1.2', '5.1.6', '5.1.10', '5.2.1'],
    stages: FROM_RCPT,
    verdict: 'refused_recipient',
    suppress: 'hard_bounce',
  },
  // A full mailbox may be emptied before the message expires.
  { family: 5, enhanced: ['5.2.2'], stages: FROM_RCPT, verdict: 'transient' },
  { family: 5, enhanced: ['5.7.26'], verdict: 'refused_account', alert: true },
  { family: 5, enhanced: ['5.7.'], verdict: 'refused_content', alert: true },
  { codes: [554], enhanced: ['5.6.'], verdict: 'refused_content' },
  { codes: [552], enhanced: ['5.3.4'], verdict: 'refused_content' },
  { family: 5, verdict: 'refused_content' },
];

const outcome = (row: Partial<Outcome> & { readonly verdict: ProviderVerdict }): Outcome => ({
  verdict: row.verdict,
  suppress: row.suppress ?? null,
  alert: row.alert ?? false,
  wait: row.wait ?? null,
});

const fits = (row: OutcomeRow, code: number, enhanced: string | null, stage: SmtpStage): boolean =>
  (row.codes === undefined || row.codes.includes(code)) &&
  (row.family === undefined || row.family === Math.floor(code / 100)) &&
  (row.stages === undefined || row.stages.includes(stage)) &&
  (row.enhanced === undefined ||
    row.enhanced.some((known) => (known.endsWith('.') ? enhanced?.startsWith(known) === true : enhanced === known)));

/**
 * What a reply at a stage means; `code` null: none came. Total. Only a 2yz to the final dot is an acceptance. What is
 * neither that nor a refusal leaves doubt once the final dot may have arrived, and before it proves that nothing was
 * accepted; an acceptance that comes before the dot was asked for is one that nobody can explain, so it is doubt too.
 */
export function classify(code: number | null, enhanced: string | null, stage: SmtpStage): Outcome {
  if (code !== null && code >= 400 && code <= 599) {
    const row = OUTCOME_TABLE.find((each) => fits(each, code, enhanced, stage));
    if (row) return outcome(row);
  }
  const positive = code !== null && code >= 200 && code <= 299;
  if (stage === 'dot') return outcome({ verdict: positive ? 'accepted' : 'ambiguous' });
  return outcome({ verdict: stage === 'body' && positive ? 'ambiguous' : 'transient' });
}
