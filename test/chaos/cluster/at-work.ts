import type { LedgerSend } from '@carillon/testing';
import type { BookedCall } from '../partner.ts';
import type { BookedRequest } from '../posters.ts';
import type { Fault } from './supervisor.ts';

/** What somebody outside the product has open with it, or had, by their own book; at which port of the product. */
type Booked = { readonly port: number; readonly from: number; readonly until: number };

export type Books = {
  readonly calls: readonly BookedCall[];
  readonly sends: readonly LedgerSend[];
  readonly requests: readonly BookedRequest[];
};

/**
 * How many kills met work: a call to the partner, a send to the mail server or a request of a client was open with the
 * very process that was killed; of a broker or a part of the database, with any process.
 */
export function countAtWork(faults: readonly Fault[], { calls, sends, requests }: Books): number {
  const booked: readonly Booked[] = [
    ...calls.map(({ port, at, endedAt }) => ({ port, from: at, until: endedAt })),
    ...sends,
    ...requests,
  ];
  return faults
    .filter(({ what }) => what.startsWith('kill '))
    .filter(({ at, ports }) =>
      booked.some(({ port, from, until }) => from <= at && until >= at && (ports?.has(port) ?? true)),
    ).length;
}
