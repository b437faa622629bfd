import type { Delivery } from '@carillon/domain/deliveries';
import type { LedgerEntry, LedgerSend } from '@carillon/testing';
import type { Cut, SendsAtKills } from './cuts.ts';
import type { Evidence } from '../harness/evidence.ts';
import { deliveryIdOf, type Tolerance } from './kill-tolerance.ts';
import type { Finding } from '../harness/promises.ts';

/** When answers of the mail server were taken away from the product, and how many at most. */
export type LostAnswers = Cut & { readonly most: number };

export type MailSide = {
  /** The mail server's book: what it took, whatever the product believes. */
  readonly mail: readonly LedgerEntry[];
  /** By what a doubt is judged whose lease ran out. */
  readonly atKills: SendsAtKills;
  /** Beyond those that the server never gave: its book names the delivery of each of these. */
  readonly answersLost?: readonly LostAnswers[];
};

/** A doubt comes from a call that a kill cut off, or from one that the server never answered; from nothing else. */
export function findDoubts(side: MailSide, { deliveries }: Evidence, slack: Tolerance): readonly Finding[] {
  const inDoubt = (reason: string): readonly Delivery[] =>
    deliveries.filter((one) => one.state === 'IN_DOUBT' && one.reason === reason);
  return [
    ...findUnderWayNowhere(inDoubt('lease_ran_out'), side.atKills, slack),
    ...findAnswered(inDoubt('answer_unknown'), side),
  ];
}

/** Whether a send, or what is left of it after its end, was under way. */
export const isUnderWayAt = (
  { from, until }: Pick<LedgerSend, 'from' | 'until'>,
  kill: Cut,
  slack: Tolerance,
): boolean => from <= kill.until && until + slack(kill) >= kill.from;

/**
 * Each doubt needs a kill of its own call: one between the step into SENDING and the last word of the mail server, with
 * what it takes to write that down. Of a call that the server never heard of, nobody knows more than when it began.
 */
function findUnderWayNowhere(
  doubts: readonly Delivery[],
  { sends, kills }: SendsAtKills,
  slack: Tolerance,
): readonly Finding[] {
  const byDelivery = Map.groupBy(sends, deliveryIdOf);
  return doubts.flatMap(({ id, attempts }): Finding[] => {
    const from = attempts.at(-1)?.startedAt ?? Number.POSITIVE_INFINITY;
    const own = (byDelivery.get(id) ?? []).filter((send) => send.until >= from);
    const until = own.reduce((last, send) => Math.max(last, send.until), from);
    if (kills.some((kill) => kill.spares !== id && isUnderWayAt({ from, until }, kill, slack))) return [];
    const heard = own.length > 0 ? 'heard by the mail server' : 'of which the mail server never heard';
    return [{ kind: 'doubt', what: `${id}: a call from ${from} to ${until}, ${heard}, was under way at no kill` }];
  });
}

/**
 * Each doubt needs an answer of its own that never came: the book says of its message that it was dropped, or one was
 * taken away while its call was under way, and no other doubt needs that one.
 */
function findAnswered(doubts: readonly Delivery[], { mail, answersLost = [] }: MailSide): readonly Finding[] {
  const dropped = new Set(mail.filter((entry) => entry.dropped).map(deliveryIdOf));
  const lost = answersLost.map((one) => ({ ...one, left: one.most }));
  const calls = doubts
    .filter(({ id }) => !dropped.has(id))
    .map(({ id, attempts }) => {
      const { startedAt = Number.POSITIVE_INFINITY, endedAt = null } = attempts.at(-1) ?? {};
      return { id, from: startedAt, until: endedAt ?? startedAt };
    });
  // Whoever ended first takes the first that fits: so nobody takes the only one that another could have.
  return calls
    .toSorted((one, other) => one.until - other.until)
    .flatMap(({ id, from, until }): Finding[] => {
      const own = lost
        .filter((one) => one.left > 0 && from <= one.until && until >= one.from)
        .toSorted((one, other) => one.until - other.until)[0];
      if (own) own.left -= 1;
      return own
        ? []
        : [{ kind: 'doubt', what: `${id}: its call from ${from} to ${until} was answered, as far as anybody knows` }];
    });
}
