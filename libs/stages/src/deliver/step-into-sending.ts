import { STEP_WITHIN } from '@carillon/domain/cadence';
import type { Configuration, Resource } from '@carillon/domain/configuration';
import { beginAttempt, type Delivery, type Moment } from '@carillon/domain/deliveries';
import type { AttemptId, Duration } from '@carillon/kernel';
import { giveBack, takeRoom, type LimitPorts, type Place, type RoomAnswer } from './limits.ts';
import { rewriteDelivery } from './transition.ts';

export type StepPorts = LimitPorts & {
  readonly pause: (span: Duration) => Promise<void>;
  /** Ends when the process is to stop. */
  readonly stopping: AbortSignal;
};

/** Lease of an attempt. Its worker renews the lease every third of this time (docs/internals/delivery-states.md). */
export const LEASE: Duration = 30_000;

/** Places that were taken too slowly, before it is looked at again a moment later. */
const TRIES = 3;

export type Step =
  | { readonly kind: 'sending'; readonly delivery: Delivery }
  /** Somebody else has it, or nobody can say; then nothing is sent. */
  | { readonly kind: 'stale' }
  | Extract<RoomAnswer, { readonly kind: 'again' | 'full' }>;

/**
 * The place under the limits of frequency, then the step into SENDING with the token of that place: durable before the
 * first byte goes out, and decided by compare-and-set, so that of any number of workers one calls the provider.
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
    // A process that was held still: others may have judged this place by its time already.
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
  // A repeat of our own write reads as stale, and so may one that went together with others: the token says whose it is.
  const seen = next ? await readAgain(delivery, ports) : null;
  if (seen?.token === token && seen.state === 'SENDING') return seen;
  // The step was taken and is called a doubt by now: then the place counts.
  const stepped = seen?.attempts.some((attempt) => attempt.token === token) === true;
  if (place && !stepped) await giveBack(delivery, token, ports).catch(() => undefined);
  return undefined;
}

/**
 * Whether the step was taken, asked until the ledger answers or the process stops: nobody else knows that the provider was
 * not called yet, and would have to call it a doubt.
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
