import { operatorCancel, wasDecided, type Delivery } from '@carillon/domain/deliveries';
import { CarillonError, type JobId } from '@carillon/kernel';
import { decideOnDelivery } from '@carillon/stages';
import { eachItem, type JobKindPorts, type JobRun, type JobWorker } from '../jobs/kind.ts';
import { readEventAt } from './row-details.ts';
import { nameOfSendItem, readSendItem } from './send-items.ts';
import { CUSTODY, waitForReaders } from './wait-for-readers.ts';

/** Result of cancelling a delivery of a stopped sending job. `why` is null if the delivery is cancelled. */
type Stopped = { readonly why: string | null };
const CANCELLED: Stopped = { why: null };

/** Returns true if an operator sent the message of this intent again. */
const wasResent = ({ history, intent }: Delivery): boolean =>
  history.some(({ reason, intentId }) => reason === 'operator_resend' && intentId === intent.id);

const waits = ({ state }: Delivery): boolean => state === 'WAITING' || state === 'COLLECTED';

/**
 * Cancels those of a sending job's deliveries that still wait, and waiting digests that hold only such deliveries. An item without a
 * cancelled delivery fails with what became of its message.
 */
export function cancelEach({ job, by }: JobRun<unknown>, ports: JobKindPorts): JobWorker {
  const { ledger } = ports;
  const sender = job.work['undoes'] as JobId;
  const isOwn = ({ intent }: Delivery): boolean => intent.sentBy?.job === sender;
  const isCancelled = (delivery: Delivery): boolean => wasDecided(delivery, 'cancel', by);
  const left = { ok: true, value: null } as const;

  const deliveriesOf = async (text: string): Promise<readonly Delivery[]> => {
    const item = readSendItem(text);
    if (item.kind === 'message') return (await ledger.many([item.slot])).filter(isOwn);
    const event = await readEventAt(item.position, ports);
    return event ? (await ledger.byEvent(event.id)).filter(isOwn) : [];
  };
  /** Cancels a delivery while it waits and `mayCancel` is true. Returns its newest state. */
  const cancel = (delivery: Delivery, mayCancel: (newest: Delivery) => boolean): Promise<Delivery> =>
    decideOnDelivery(
      async () => (await ledger.get(delivery.id)) ?? delivery,
      (newest) => {
        if (!waits(newest) || !mayCancel(newest) || isCancelled(newest)) return left;
        return operatorCancel(newest, by, { now: ports.clock.now(), derive: ports.ids.derive });
      },
      { ...ports, untold: (error) => ports.watch.trouble('publish', error) },
    );

  async function stop(delivery: Delivery): Promise<Stopped> {
    const ended = await cancel(delivery, (newest) => isOwn(newest) && !wasResent(newest));
    if (isCancelled(ended)) return CANCELLED;
    const { id, state, digestedIn } = ended;
    if (wasResent(ended)) {
      const why = `${id} was not cancelled, because a person sent it again: cancel this message alone while it waits`;
      return { why };
    }
    const digest = state === 'DIGESTED' && digestedIn !== undefined ? await ledger.get(digestedIn) : null;
    return digest ? stopDigest(id, digest) : { why: `${id} is ${state}: only a message that waits is cancelled` };
  }

  async function stopDigest(item: Delivery['id'], digest: Delivery): Promise<Stopped> {
    const ids = (digest.intent.digest?.items ?? []).map(({ deliveryId }) => deliveryId);
    const others = ids.length - (await ledger.many(ids)).filter(isOwn).length;
    const ended = await cancel(digest, (newest) => others === 0 && !wasResent(newest));
    if (isCancelled(ended)) return CANCELLED;
    const { id, state } = ended;
    if (!waits(ended))
      return { why: `${item} is in digest ${id}, which is ${state}: only a digest that waits is cancelled` };
    if (others === 0)
      return { why: `${item} is in digest ${id}, which a person sent again: cancel the digest while it waits` };
    const messages = others === 1 ? '1 message' : `${others} messages`;
    const why = `${item} is in digest ${id}, which was not cancelled, because it holds ${messages} that ${sender} did not send: cancel the digest while it waits, if nobody needs them`;
    return { why };
  }

  const cancelItems = eachItem(
    ports,
    async (item) => {
      const stopped: Stopped[] = [];
      for (const delivery of await deliveriesOf(item)) stopped.push(await stop(delivery));
      const [first] = stopped;
      if (!first)
        throw new CarillonError('not_found', `${sender} sent no message for this item, so there is nothing to cancel`);
      if (first.why !== null && stopped.every(({ why }) => why !== null))
        throw new CarillonError('wrong_state', first.why);
    },
    nameOfSendItem,
  );
  let custodyIsComplete = false;
  return async (items, signal) => {
    if (!custodyIsComplete) await waitForReaders(CUSTODY, ports, signal);
    custodyIsComplete = true;
    return cancelItems(items, signal);
  };
}
