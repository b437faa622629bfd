import { operatorCancel, wasDecided, type Delivery } from '@carillon/domain/deliveries';
import type { Job, JobFailure } from '@carillon/domain/jobs';
import { CarillonError, parseDuration, type Duration, type Instant, type JobId, type RunId } from '@carillon/kernel';
import { pause } from '@carillon/runtime';
import { decideOnDelivery } from '@carillon/stages';
import { z } from 'zod';
import { readEventAt } from '../../runs/row-details.ts';
import { nameOfSendItem, readSendItem } from '../../runs/send-items.ts';
import { createMissingSender, type MissingSender, type SendMissingPorts } from '../../runs/send-missing.ts';
import { eachItem, failureOf, isTransient, jobKind, type JobKindPorts, type JobRun, type JobWorker } from '../kind.ts';

const parameters = z.object({
  run: z.string(),
  /** Number of the configuration that events are evaluated by. */
  configuration: z.string(),
  /** Of the look that a person confirmed. */
  checksum: z.string(),
  /** Slot states of the messages that were confirmed, such as `none` or `none,stopped`. */
  slot: z.string(),
  /** Duration for which a message is of use, such as `24h`. */
  expires: z.string(),
  /** Messages per second. */
  rate: z.string(),
});
type Parameters = z.infer<typeof parameters>;

/** Sends the missing messages of a comparison. Items are messages and lookups, oldest event first. */
export const sendMissing = jobKind({
  action: 'send_missing',
  permission: 'operate',
  audit: 'message.send',
  parameters,
  lane: 'paced',
  nameOf: nameOfSendItem,
  do: (run, ports) => sendEach(run, ports),
  undo: { audit: 'message.cancel', do: (run, ports) => cancelEach(run, ports) },
});

/** Returns the sender of a job of this kind. */
export async function senderOf({ id, byName, createdAt, work }: Job, ports: SendMissingPorts): Promise<MissingSender> {
  const { run, configuration, slot, expires } = parameters.parse(work);
  const sending = {
    sentBy: { person: byName, job: id, run: run as RunId },
    createdAt,
    expires: readExpires(expires),
  };
  const takesStopped = slot.split(',').includes('stopped');
  return createMissingSender({ ...sending, takesStopped }, await ports.configuration.at(Number(configuration)), ports);
}

/** Items are reported when so much time has passed, so progress moves at a low rate too. */
const REPORT_INTERVAL: Duration = 1_000;

function sendEach({ job, parameters: { rate } }: JobRun<Parameters>, ports: JobKindPorts): JobWorker {
  const nextTurn = createPace(1_000 / Number(rate), ports);
  let sender: MissingSender | null = null;
  return async (items, stop) => {
    if (!sender) {
      await waitForCustody(ports, stop);
      sender = await senderOf(job, ports);
    }
    const began = ports.clock.now();
    const results: (JobFailure | null)[] = [];
    for (const item of items) {
      if (results.length > 0 && ports.clock.now() - began >= REPORT_INTERVAL) break;
      await nextTurn(stop);
      if (stop.aborted) break;
      try {
        await sender.send(item);
        results.push(null);
      } catch (error) {
        if (isTransient(error)) throw error;
        results.push(failureOf(nameOfSendItem(item), error, ports.watch));
      }
    }
    return results;
  };
}

function readExpires(text: string): Duration {
  const expires = parseDuration(text);
  if (!expires.ok) throw new Error(`expires of a sending job: ${expires.error}`);
  return expires.value;
}

/** Returns a function that resolves when the next item may be sent, or at once when `stop` is aborted. */
function createPace(interval: Duration, { clock }: Pick<JobKindPorts, 'clock'>): (stop: AbortSignal) => Promise<void> {
  let last: Instant | null = null;
  return async (stop) => {
    const elapsed = last === null ? interval : clock.now() - last;
    if (elapsed < interval) await pause(interval - Math.max(elapsed, 0), stop);
    last = clock.now();
  };
}

/** Returns true if an operator sent the message of this intent again. */
const wasResent = ({ history, intent }: Delivery): boolean =>
  history.some(({ reason, intentId }) => reason === 'operator_resend' && intentId === intent.id);

/** Returns why a delivery is not cancelled, and how a person cancels it where that is possible. */
function whyLeft(delivery: Delivery): string {
  const { id, state, digestedIn } = delivery;
  if (wasResent(delivery))
    return `${id} was not cancelled, because a person sent it again: cancel this message alone while it waits`;
  if (state === 'DIGESTED' && digestedIn) return `${id} is in digest ${digestedIn}: cancel the digest while it waits`;
  return `${id} is ${state}: only a message that waits is cancelled`;
}

/** Cancels those of a job's deliveries that still wait. An item without one fails with what became of its message. */
function cancelEach({ job, by }: JobRun<Parameters>, ports: JobKindPorts): JobWorker {
  const sender = job.work['undoes'] as JobId;
  const isOwn = ({ intent }: Delivery): boolean => intent.sentBy?.job === sender;
  const isCancelled = (delivery: Delivery): boolean => wasDecided(delivery, 'cancel', by);
  const left = { ok: true, value: null } as const;

  const deliveriesOf = async (text: string): Promise<readonly Delivery[]> => {
    const item = readSendItem(text);
    if (item.kind === 'message') return (await ports.ledger.many([item.slot])).filter(isOwn);
    const event = await readEventAt(item.position, ports);
    return event ? (await ports.ledger.byEvent(event.id)).filter(isOwn) : [];
  };
  const cancel = (delivery: Delivery): Promise<Delivery> =>
    decideOnDelivery(
      async () => (await ports.ledger.get(delivery.id)) ?? delivery,
      (newest) => {
        const waits = newest.state === 'WAITING' || newest.state === 'COLLECTED';
        if (!waits || !isOwn(newest) || isCancelled(newest) || wasResent(newest)) return left;
        return operatorCancel(newest, by, { now: ports.clock.now(), derive: ports.ids.derive });
      },
      { ...ports, untold: (error) => ports.watch.trouble('publish', error) },
    );
  const cancelItems = eachItem(
    ports,
    async (item) => {
      const ended: Delivery[] = [];
      for (const delivery of await deliveriesOf(item)) ended.push(await cancel(delivery));
      if (ended.some(isCancelled)) return;
      const [first] = ended.filter(isOwn);
      if (!first)
        throw new CarillonError('not_found', `${sender} sent no message for this item, so there is nothing to cancel`);
      throw new CarillonError('wrong_state', whyLeft(first));
    },
    nameOfSendItem,
  );
  let custodyIsComplete = false;
  return async (items, stop) => {
    if (!custodyIsComplete) await waitForCustody(ports, stop);
    custodyIsComplete = true;
    return cancelItems(items, stop);
  };
}

const CUSTODY_POLL: Duration = 50;
const MAX_CUSTODY_POLLS = 200;

/** Waits until delivery has read all intents that are on the log now. Rejects with a transient error if delivery does not. */
async function waitForCustody({ log, checkpoints }: JobKindPorts, stop: AbortSignal): Promise<void> {
  for (let partition = 0; partition < log.partitions('carillon.intents'); partition += 1) {
    const { end } = await log.bounds('carillon.intents', partition);
    const isRead = async (): Promise<boolean> =>
      end === 0 || ((await checkpoints.load('delivery', 'carillon.intents', partition))?.next ?? 0) >= end;
    for (let polls = 0; !(await isRead()); polls += 1) {
      if (stop.aborted || polls === MAX_CUSTODY_POLLS) {
        throw new CarillonError('log_unavailable', 'delivery has not read all intents on the log yet');
      }
      await pause(CUSTODY_POLL, stop);
    }
  }
}
