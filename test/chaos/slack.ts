import type { Attempt, Delivery } from '@carillon/domain';
import type { LedgerSend } from '@carillon/testing';
import type { Cut, PartnerSide } from './asking.ts';
import type { SendsAtKills } from './doubts.ts';
import type { Evidence } from './evidence.ts';
import { SLOWNESS } from './settle.ts';

/** On an idle machine an answer is written down within some ten milliseconds; below this a process is not to be blamed. */
const LEAST = 500;
/**
 * A product that sits on answers for longer is at fault. Eight times what a cluster needed on two cores with a load of
 * up to 28.
 */
const MOST = 2_000 * SLOWNESS;
/** The slowest that a kill cut off may have been slower than the slowest that it let through. */
const BEYOND_THE_SLOWEST = 2;

/** The delivery that a Message-ID names. */
export const deliveryIdOf = ({ message_id: id }: { readonly message_id: string | null }): string =>
  /^<(dlv_[^.]+)\./.exec(id ?? '')?.[1] ?? '';

/** Calls and messages of others, held against the product. */
export type Neighbourhood = { readonly partner: PartnerSide; readonly sends: SendsAtKills | null };

/**
 * How long after an answer had left a neighbour a kill may still have kept it from being written down, and how long
 * before a call reached one it had begun. The run says itself: by what got through while nothing was cut.
 */
export function slackOf({ partner, sends }: Neighbourhood, evidence: Evidence): number {
  const lags = [...lagsOfAnswers(partner, evidence), ...(sends ? lagsOfMail(sends, evidence) : [])];
  const slowest = lags.reduce((most, lag) => Math.max(most, lag), 0);
  return Math.min(MOST, Math.max(LEAST, BEYOND_THE_SLOWEST * slowest));
}

const isCut = (from: number, until: number, cuts: readonly Cut[]): boolean =>
  cuts.some((cut) => cut.from <= until && cut.until >= from);

/** From the partner's last byte to the log. */
function lagsOfAnswers({ calls, cuts, outages = [] }: PartnerSide, { lookups }: Evidence): readonly number[] {
  const byId = new Map(calls.map((call) => [call.callId, call]));
  return lookups.flatMap(({ lookup, at }) => {
    const endedAt = byId.get(lookup.callId)?.endedAt ?? at;
    return isCut(endedAt, at, [...cuts, ...outages]) ? [] : [at - endedAt];
  });
}

/** From the step into SENDING to MAIL, and from the server's last word to the product that read it. */
function lagsOfMail({ sends, kills }: SendsAtKills, { deliveries }: Evidence): readonly number[] {
  const byDelivery = Map.groupBy(sends, deliveryIdOf);
  const lagsOf = ({ startedAt, endedAt }: Attempt, own: readonly LedgerSend[]): readonly number[] => {
    if (endedAt === null || isCut(startedAt, endedAt, kills)) return [];
    const send = own.find(({ from, until }) => from >= startedAt && until <= endedAt);
    return send ? [send.from - startedAt, endedAt - send.until] : [];
  };
  return deliveries.flatMap(({ id, attempts }: Delivery) =>
    attempts.flatMap((attempt) => lagsOf(attempt, byDelivery.get(id) ?? [])),
  );
}
