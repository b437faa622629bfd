import { countAskedAgain, findAsked, isCutBy } from './asking.ts';
import type { Cut, PartnerSide } from './cuts.ts';
import { findDoubts, isUnderWayAt, type MailSide } from './doubts.ts';
import type { Evidence } from '../harness/evidence.ts';
import { tolerancesOf, type Tolerance } from './kill-tolerance.ts';

/**
 * How much a run shows. A call or a mail that was under way near a kill is excused whatever the product did with it; only
 * the others are judged.
 */
export type Coverage = {
  /** Calls to the partner, and of these the ones that a kill and its slack would excuse. */
  readonly calls: number;
  readonly callsExcused: number;
  /** The same of sends to the mail server, by its book. */
  readonly mails: number;
  readonly mailsExcused: number;
  /** Doubts of a lease that ran out whose call was over, or not begun, at each kill: slack alone excuses them. */
  readonly doubtsBySlack: number;
  /** Over the kills, in milliseconds: the larger one of calls and of mails. */
  readonly slackMedian: number;
  readonly slackMost: number;
  /** The least slack of some steps for all with which nothing would have been found; -1: none of them. */
  readonly slackNeeded: number;
  /** Kills at which the partner or the mail server was at work for the product, by their own books and without slack. */
  readonly killsAtWork: number;
  /** Calls of which the product knew nothing afterwards, so that it made them again. */
  readonly callsAskedAgain: number;
};

type Sides = Pick<MailSide, 'mail' | 'answersLost' | 'atKills'> & { readonly partner: PartnerSide };

const STEPS = [0, 50, 100, 250, 500, 1_000, 2_000];
const NONE: Tolerance = () => 0;

const medianOf = (slacks: readonly number[]): number =>
  slacks.toSorted((one, other) => one - other)[Math.floor(slacks.length / 2)] ?? 0;

export function coverageOf({ partner, ...side }: Sides, evidence: Evidence): Coverage {
  const { sends, kills } = side.atKills;
  const { ofCalls, ofMails } = tolerancesOf({ partner, atKills: side.atKills }, evidence);
  const slacks = [partner.cuts.map(ofCalls), kills.map(ofMails)];
  const isGreen = (slack: number): boolean =>
    findAsked(partner, evidence, () => slack).length + findDoubts(side, evidence, () => slack).length === 0;
  const isAtWork = (cut: Cut): boolean =>
    partner.calls.some((call) => isCutBy(call, cut, NONE)) || sends.some((send) => isUnderWayAt(send, cut, NONE));
  return {
    calls: partner.calls.length,
    callsExcused: partner.calls.filter((call) => partner.cuts.some((cut) => isCutBy(call, cut, ofCalls))).length,
    mails: sends.length,
    mailsExcused: sends.filter((send) => kills.some((kill) => isUnderWayAt(send, kill, ofMails))).length,
    doubtsBySlack: findDoubts(side, evidence, NONE).length - findDoubts(side, evidence, ofMails).length,
    slackMedian: Math.max(...slacks.map(medianOf)),
    slackMost: Math.max(0, ...slacks.flat()),
    slackNeeded: STEPS.find(isGreen) ?? -1,
    killsAtWork: new Set([...partner.cuts, ...kills].filter(isAtWork).map(({ from }) => from)).size,
    callsAskedAgain: countAskedAgain(partner, evidence),
  };
}

/** A machine whose own lags are so small that most kills excuse no more than this is calm enough to hold the run to account. */
const CALM_SLACK = 400;
const MAX_EXCUSED = 0.5;

/**
 * Why a run shows too little: more than half of all calls, or mails, would have been excused. Null where it shows enough,
 * and on a machine whose own lags are large: there the figures say what the run is worth, and nobody is blamed for it.
 */
export function showsTooLittle(coverage: Coverage): string | null {
  const { calls, callsExcused, mails, mailsExcused, slackMedian } = coverage;
  if (slackMedian > CALM_SLACK) return null;
  const tooMany = (excused: number, all: number): boolean => excused > MAX_EXCUSED * all;
  if (!tooMany(callsExcused, calls) && !tooMany(mailsExcused, mails)) return null;
  return `shows nothing: ${callsExcused} of ${calls} calls and ${mailsExcused} of ${mails} mails were near a kill`;
}
