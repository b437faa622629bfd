import { STEP_WITHIN } from '@carillon/domain/cadence';
import type { Configuration, Resource } from '@carillon/domain/configuration';
import { beginAttempt, type Delivery, type Moment } from '@carillon/domain/deliveries';
import type { AttemptId, Duration } from '@carillon/kernel';
import { giveBack, takeRoom, type LimitPorts, type Place, type RoomAnswer } from './limits.ts';
import { rewriteDelivery } from './transition.ts';

export type StepPorts = LimitPorts & {
  readonly pause: (span: Duration) => Promise<void>;
  /** Aborts when the process stops. */
  readonly stopping: AbortSignal;
};

/** Lease of an attempt. Its worker renews the lease every third of this time (docs/internals/delivery-states.md). */
export const LEASE: Duration = 30_000;

/** Reservations that may expire before the message is checked again a moment later. */
const TRIES = 3;

export type Step =
  | { readonly kind: 'sending'; readonly delivery: Delivery }
  /** Another worker has the delivery, or its state is unknown. Nothing is sent. */
  | { readonly kind: 'stale' }
  | Extract<RoomAnswer, { readonly kind: 'again' | 'full' }>;

/**
 * Reserves room under the frequency limits, then steps into SENDING with the reservation's token. The step is durable
 * before the first byte is sent and decided by compare-and-set, so only one of several workers calls the provider.
 */
export async function stepIntoSending(
  delivery: Delivery,
  notification: Resource<'notification'>,
  newest: Configuration,
  account: string,
  ports: StepPorts,
): Promise<Step> {
  for (let tries = 0; tries < TRIES; tries += 1) {
    const room = await takeRoom(delivery, notification, newest, ports);
    if (room.kind === 'again' || room.kind === 'full') return room;
    const place = room.kind === 'taken' ? room.place : null;
    // After a stall others may already treat the reservation as abandoned.
    if (place && ports.clock.now() - place.at > STEP_WITHIN) {
      await giveBack(delivery, place.token, ports);
      continue;
    }
    const sending = await begin(delivery, account, place, ports);
    return sending ? { kind: 'sending', delivery: sending } : { kind: 'stale' };
  }
  return { kind: 'again' };
}

async function begin(
  delivery: Delivery,
  account: string,
  place: Place | null,
  ports: StepPorts,
): Promise<Delivery | undefined> {
  const { ids, clock, ledger } = ports;
  const token = place?.token ?? ids.token();
  const now = clock.now();
  const moment: Moment = { now, derive: ids.derive };
  const next = beginAttempt(
    delivery,
    {
      attemptId: ids.derive('attempt', delivery.id, token) as AttemptId,
      token,
      account,
      leaseUntil: now + LEASE,
      ...(place && { startedAt: place.at }),
    },
    moment,
  );
  const write = (to: Delivery) => rewriteDelivery(delivery, to, ledger, { together: true });
  const wrote = next ? await write(next).catch(() => 'unknown' as const) : 'stale';
  if (next && wrote === 'done') return next;
  // A stale result may hide our own write; the token shows whose write it is.
  const seen = next ? await readAgain(delivery, ports) : null;
  if (seen?.token === token && seen.state === 'SENDING') return seen;
  // If the step happened and was moved to IN_DOUBT meanwhile, the reservation counts.
  const stepped = seen?.attempts.some((attempt) => attempt.token === token) === true;
  if (place && !stepped) await giveBack(delivery, token, ports).catch(() => undefined);
  return undefined;
}

/**
 * Reads until the ledger responds or the process stops whether the step happened. Only this worker knows that the
 * provider was not called; others would have to treat it as a doubt.
 */
async function readAgain(delivery: Delivery, { ledger, stopping, pause }: StepPorts): Promise<Delivery | null> {
  for (let wait = 50; ; wait = Math.min(wait * 2, 2000)) {
    try {
      return await ledger.get(delivery.id);
    } catch (error) {
      if (stopping.aborted) throw error;
      await pause(wait);
    }
  }
}
