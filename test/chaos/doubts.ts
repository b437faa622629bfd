import type { Delivery } from '@carillon/domain';
import type { LedgerEntry, LedgerSend } from '@carillon/testing';
import type { Cut } from './asking.ts';
import type { Evidence } from './evidence.ts';
import { deliveryIdOf } from './slack.ts';
import type { Finding } from './verdict.ts';

/** The mail server's own book of sends, and when processes that send were killed or held, or could not write down what came of it. */
export type SendsAtKills = { readonly sends: readonly LedgerSend[]; readonly kills: readonly Cut[] };

export type MailSide = {
  /** The mail server's book: what it took, whatever the product believes. */
  readonly mail: readonly LedgerEntry[];
  /** By what a doubt is judged whose lease ran out; a number alone: so many at most, whichever. */
  readonly callsAtKills: number | SendsAtKills;
  /** Answers of the mail server that were taken away from the product, beyond those that the server never gave. */
  readonly answersLost?: number;
};

/** A doubt comes from a call that a kill cut off, or from one that the server never answered; from nothing else. */
export function findDoubts(
  { mail, callsAtKills, answersLost = 0 }: MailSide,
  { deliveries }: Evidence,
  slack: number,
): readonly Finding[] {
  const inDoubt = (reason: string): readonly Delivery[] =>
    deliveries.filter((one) => one.state === 'IN_DOUBT' && one.reason === reason);
  const drops = mail.filter(({ dropped }) => dropped).length;
  const cutOff = inDoubt('lease_ran_out');
  return [
    ...(typeof callsAtKills === 'number'
      ? findTooMany('lease_ran_out', cutOff, callsAtKills)
      : findUnderWayNowhere(cutOff, callsAtKills, slack)),
    ...findTooMany('answer_unknown', inDoubt('answer_unknown'), drops + answersLost),
  ];
}

function findTooMany(reason: string, found: readonly Delivery[], most: number): readonly Finding[] {
  if (found.length <= most) return [];
  return [{ kind: 'doubt', what: `${found.length} doubts ${reason}, at most ${most} have a cause` }];
}

/**
 * Each doubt needs a kill of its own call: one between the step into SENDING and the last word of the mail server, with
 * what it takes to write that down. Of a call that the server never heard of, nobody knows more than when it began.
 */
function findUnderWayNowhere(
  doubts: readonly Delivery[],
  { sends, kills }: SendsAtKills,
  slack: number,
): readonly Finding[] {
  const byDelivery = Map.groupBy(sends, deliveryIdOf);
  return doubts.flatMap(({ id, attempts }): Finding[] => {
    const from = attempts.at(-1)?.startedAt ?? Number.POSITIVE_INFINITY;
    const own = (byDelivery.get(id) ?? []).filter((send) => send.until >= from);
    const until = own.reduce((last, send) => Math.max(last, send.until), from) + slack;
    if (kills.some((kill) => from <= kill.until && until >= kill.from)) return [];
    const heard = own.length > 0 ? 'heard by the mail server' : 'of which the mail server never heard';
    return [{ kind: 'doubt', what: `${id}: a call from ${from} to ${until}, ${heard}, was under way at no kill` }];
  });
}
