import type { ProviderVerdict, SuppressionSource } from '@carillon/domain/deliveries';
import { isDeadMailbox } from '@carillon/domain/receipts';
import type { Duration } from '@carillon/kernel';
import { replyCode, type SmtpReply } from './reply.ts';
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

/** A row of the table. The first matching row decides. Absent fields match anything. */
export type OutcomeRow = Partial<Outcome> & {
  readonly verdict: ProviderVerdict;
  /** Reply codes. */
  readonly codes?: readonly number[];
  /** First digit of the reply code: 4 or 5. */
  readonly family?: 4 | 5;
  /** Enhanced codes. A code that ends in a dot matches all codes with this prefix. */
  readonly enhanced?: readonly string[];
  /** Matches replies that say, by code or in words, that the mailbox does not exist (`isDeadMailbox`). */
  readonly deadMailbox?: true;
  readonly stages?: readonly SmtpStage[];
};

const MINUTE = 60_000;

/**
 * Outcomes of negative replies (RFC 5321, RFC 3463, RFC 6647). Data instead of code, because vendors change their
 * codes. Two rows differ from the source table. A refusal before the server knew of a message cannot be about the
 * message, so it pauses the account instead of failing all waiting messages. An unknown mailbox only counts after a
 * recipient was named: as a reply to MAIL it is about the sender and must not suppress anyone.
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
  { family: 5, deadMailbox: true, stages: FROM_RCPT, verdict: 'refused_recipient', suppress: 'hard_bounce' },
  // The recipient is refused, and its mailbox may be alive: it gets mail too fast, or is disabled for a while.
  {
    family: 5,
    enhanced: ['5.1.0', '5.1.1', '5.1.2', '5.1.3', '5.1.4', '5.1.6', '5.1.10', '5.2.1'],
    stages: FROM_RCPT,
    verdict: 'refused_recipient',
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

const fits = (row: OutcomeRow, { code, enhanced }: SmtpReply, stage: SmtpStage, isDead: boolean): boolean =>
  (row.codes === undefined || row.codes.includes(code)) &&
  (row.family === undefined || row.family === Math.floor(code / 100)) &&
  (row.stages === undefined || row.stages.includes(stage)) &&
  (row.deadMailbox === undefined || isDead) &&
  (row.enhanced === undefined ||
    row.enhanced.some((known) => (known.endsWith('.') ? enhanced?.startsWith(known) === true : enhanced === known)));

/**
 * Returns the meaning of a reply at a stage, or of no reply (null). Total. Only a 2yz reply to the final dot is an
 * acceptance. Any other unclear reply is a doubt once the final dot may have arrived; before that, it proves that
 * nothing was accepted. An acceptance before the dot was requested is unexplained, so it is a doubt too.
 */
export function classify(reply: SmtpReply | null, stage: SmtpStage): Outcome {
  if (reply !== null && reply.code >= 400 && reply.code <= 599) {
    const isDead = isDeadMailbox({ answer: `${replyCode(reply)} ${reply.text}`, status: '' });
    const row = OUTCOME_TABLE.find((each) => fits(each, reply, stage, isDead));
    if (row) return outcome(row);
  }
  const positive = reply !== null && reply.code >= 200 && reply.code <= 299;
  if (stage === 'dot') return outcome({ verdict: positive ? 'accepted' : 'ambiguous' });
  return outcome({ verdict: stage === 'body' && positive ? 'ambiguous' : 'transient' });
}
