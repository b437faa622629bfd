import type { Attempt, Delivery } from '@carillon/domain/deliveries';
import type { LedgerSend } from '@carillon/testing';
import type { Cut, PartnerSide, SendsAtKills } from './cuts.ts';
import type { Evidence } from '../harness/evidence.ts';
import { SLOWNESS } from './settle.ts';

/** On an idle machine an answer is written down within some ten milliseconds; below this a process is not to be blamed. */
const LEAST = 200;
/** A product that sits on answers for longer is at fault: what a run on two cores with a load of 40 has needed. */
const MOST = 2_000 * SLOWNESS;
/** What nearly all took: one that was slow does not count for the whole run. */
const USUAL = 0.95;
/**
 * A kill rather meets what takes long than what does not. The slowest of all took two to six times as long as the 95th
 * percentile on a machine that did little else (9 and 23 ms), so that this is beyond any; and small all the same.
 */
const TIMES_USUAL = 8;
/** Before a kill so much shows how slow the machine was just then, and the slowest that was cut off may have taken twice that. */
const JUST_BEFORE = 5_000;
const TIMES_THEN = 2;

/**
 * How long before a kill (or another cut) an answer may have left a neighbour and not be written down yet, and how long
 * after it a call may reach one; in milliseconds.
 */
export type Tolerance = (cut: Cut) => number;

/** Something the product did; `lag`: how long after it could have written it down, where that is known, and no cut came in between. */
type Written = { readonly at: number; readonly lag: number | null };

/** The delivery that a Message-ID names. */
export const deliveryIdOf = ({ message_id: id }: { readonly message_id: string | null }): string =>
  /^<(dlv_[^.]+)\./.exec(id ?? '')?.[1] ?? '';

/** What stands beside the product: the books of both neighbours. */
export type Neighbours = { readonly partner: PartnerSide; readonly atKills: SendsAtKills };

/**
 * Each kill has a slack of its own, so that one slow moment excuses what was under way in it and no more: eight times what
 * is usual in this run, or twice the longest of the seconds before the kill, of answers or of mails, since the machine that
 * was slow with one was slow with the other; and whatever time went by between the last sign of life of those who ask, or
 * who send, and the kill, since a process that gets no processor writes nothing down and shows no lag either. On a starved
 * machine all three grow, and the check excuses more (it says how much: coverage.ts), but never beyond `MOST`.
 */
export function tolerancesOf(
  { partner, atKills }: Neighbours,
  evidence: Evidence,
): { readonly ofCalls: Tolerance; readonly ofMails: Tolerance } {
  const answers = writtenOfAnswers(partner, evidence);
  const mails = writtenOfMails(atKills, evidence);
  const [ofAnswers, ofSends] = [slownessBy(answers), slownessBy(mails)];
  const slowness = (from: number): number => Math.max(ofAnswers(from), ofSends(from));
  return { ofCalls: toleranceBy(answers, slowness), ofMails: toleranceBy(mails, slowness) };
}

const justBefore = (written: readonly Written[], from: number): readonly Written[] =>
  written.filter(({ at }) => at <= from && at > from - JUST_BEFORE);

/** By what was not cut off. */
function slownessBy(written: readonly Written[]): (from: number) => number {
  const lags = written.flatMap(({ lag }) => lag ?? []).toSorted((one, other) => one - other);
  const usual = lags[Math.floor(lags.length * USUAL)] ?? 0;
  return (from) => {
    const slowest = justBefore(written, from).reduce((most, { lag }) => Math.max(most, lag ?? 0), 0);
    return Math.max(TIMES_USUAL * usual, TIMES_THEN * slowest);
  };
}

function toleranceBy(written: readonly Written[], slowness: (from: number) => number): Tolerance {
  const known = new Map<number, number>();
  const slackAt = (from: number): number => {
    const lastSign = justBefore(written, from).reduce((last, { at }) => Math.max(last, at), from - JUST_BEFORE);
    return Math.min(MOST, Math.max(LEAST, slowness(from)) + from - lastSign);
  };
  return ({ from }) => {
    const slack = known.get(from) ?? slackAt(from);
    known.set(from, slack);
    return slack;
  };
}

const isCut = (from: number, until: number, cuts: readonly Cut[]): boolean =>
  cuts.some((cut) => cut.from <= until && cut.until >= from);

/** From the partner's last byte to the log; what those who ask do besides shows that they live. */
function writtenOfAnswers(
  { calls, cuts, outages = [] }: PartnerSide,
  { lookups, evaluations }: Evidence,
): readonly Written[] {
  const byId = new Map(calls.map((call) => [call.callId, call]));
  return [
    ...[...evaluations, ...calls].map(({ at }) => ({ at, lag: null })),
    ...lookups.map(({ lookup, at }) => {
      const endedAt = byId.get(lookup.callId)?.endedAt ?? at;
      return { at, lag: isCut(endedAt, at, [...cuts, ...outages]) ? null : at - endedAt };
    }),
  ];
}

/** From the step into SENDING to MAIL, and from the server's last word to the product that read it. */
function writtenOfMails({ sends, kills }: SendsAtKills, { deliveries }: Evidence): readonly Written[] {
  const byDelivery = Map.groupBy(sends, deliveryIdOf);
  const writtenOf = ({ startedAt, endedAt }: Attempt, own: readonly LedgerSend[]): readonly Written[] => {
    const send = own.find(({ from, until }) => from >= startedAt && until <= (endedAt ?? Number.POSITIVE_INFINITY));
    const isWhole = send !== undefined && endedAt !== null && !isCut(startedAt, endedAt, kills);
    return [
      { at: startedAt, lag: isWhole ? send.from - startedAt : null },
      ...(endedAt === null ? [] : [{ at: endedAt, lag: isWhole ? endedAt - send.until : null }]),
    ];
  };
  return deliveries.flatMap(({ id, attempts }: Delivery) =>
    attempts.flatMap((attempt) => writtenOf(attempt, byDelivery.get(id) ?? [])),
  );
}
