import type { DeliveryState } from '@carillon/domain/deliveries';
import type { SourceEvent } from '@carillon/domain/events';
import type { DeliveryId } from '@carillon/kernel';
import fc from 'fast-check';
import type { RecordedAnswer } from '../../src/index.ts';
import { anyHistory, anyOptions, answerFor, type Options } from './comparison-fixture.ts';
import { messagesOfSide, type OracleDelivery, type OracleLedger } from './comparison-oracle.ts';

/** How a delivery ended. `digest` is the state of its digest, or `removed` if the digest is kept no longer. */
type Fate = { readonly state: DeliveryState; readonly digest?: DeliveryState | 'removed' };

/** Null: the delivery was never made, because its event became a dead letter. */
const FATES: readonly (Fate | null)[] = [
  ...(['SENT', 'DELIVERED', 'BOUNCED', 'COMPLAINED', 'SENDING', 'IN_DOUBT'] as const).map((state) => ({ state })),
  ...(['SUPPRESSED', 'FAILED', 'EXPIRED', 'CANCELLED'] as const).map((state) => ({ state })),
  ...(['WAITING', 'COLLECTED'] as const).map((state) => ({ state })),
  ...(['SENT', 'WAITING', 'SUPPRESSED', 'removed'] as const).map((digest) => ({ state: 'DIGESTED', digest }) as const),
  null,
];

/** What a partner answered about an event. Only the first answer on the log counts. */
const ANSWERS = ['none', 'one', 'superseded', 'read in another order', 'about others'] as const;

/** What happened before a comparison. */
export type Past = {
  readonly events: readonly SourceEvent[];
  readonly answers: readonly RecordedAnswer[];
  readonly ledger: OracleLedger;
  /** Events that are still on the log. */
  readonly left: readonly SourceEvent[];
};

/**
 * Events with their recorded answers and deliveries. The live configuration changed at one of the events. Letters that were redriven
 * later have deliveries by the newer configuration. The log may have lost its first third, whose deliveries are still known.
 */
export const anyPast: fc.Arbitrary<Past> = fc
  .record({
    events: anyHistory,
    live: fc.tuple(anyOptions, anyOptions),
    changedAt: fc.nat(12),
    redriven: fc.array(fc.boolean(), { minLength: 12, maxLength: 12 }),
    fates: fc.array(fc.nat(FATES.length - 1), { minLength: 1, maxLength: 8 }),
    answered: fc.array(fc.constantFrom(...ANSWERS), { minLength: 12, maxLength: 12 }),
    isCut: fc.boolean(),
  })
  .map(({ events, live: [old, newest], changedAt, redriven, fates, answered, isCut }) => {
    const answers = events.flatMap((event, index) => answersOf(event, answered[index] ?? 'none'));
    const ledger = new Map<DeliveryId, OracleDelivery>();
    for (const [index, event] of events.entries()) {
      const options = index < changedAt && !redriven[index] ? old : newest;
      for (const slot of slotsOf(event, options, answers)) {
        if (ledger.has(slot)) continue;
        const fate = FATES[fates[ledger.size % fates.length] ?? 0];
        if (fate) deliver(slot, fate, ledger);
      }
    }
    return { events, answers, ledger, left: events.slice(isCut ? Math.ceil(events.length / 3) : 0) };
  });

function answersOf(event: SourceEvent, answered: (typeof ANSWERS)[number]): readonly RecordedAnswer[] {
  const first = answerFor(event);
  const later = answerFor(event, { at: event.appendedAt + 1, userIds: ['ann', 'bob', 'cem', 'dee'], items: [] });
  if (answered === 'superseded') return [first, later];
  if (answered === 'read in another order') return [later, first];
  if (answered === 'about others') return [answerFor(event, { userIds: ['eve'], items: [] })];
  return answered === 'one' ? [first] : [];
}

const slotsOf = (event: SourceEvent, options: Options, answers: readonly RecordedAnswer[]): readonly DeliveryId[] =>
  [...messagesOfSide(event, options, answers).values()].flatMap((messages) => (messages ?? []).map(({ slot }) => slot));

function deliver(slot: DeliveryId, { digest, state }: Fate, ledger: Map<DeliveryId, OracleDelivery>): void {
  if (digest === undefined) return void ledger.set(slot, { state });
  const digestedIn = `digest of ${slot}` as DeliveryId;
  ledger.set(slot, { state, digestedIn });
  if (digest !== 'removed') ledger.set(digestedIn, { state: digest });
}
