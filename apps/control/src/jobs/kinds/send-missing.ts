import type { Job, JobFailure } from '@carillon/domain/jobs';
import { parseDuration, type Duration, type Instant, type RunId } from '@carillon/kernel';
import { pause } from '@carillon/runtime';
import { z } from 'zod';
import { cancelEach } from '../../runs/cancel-sent.ts';
import { withRedriveLease } from '../../runs/redrive-lease.ts';
import { nameOfSendItem } from '../../runs/send-items.ts';
import { createMissingSender, type MissingSender, type SendMissingPorts } from '../../runs/send-missing.ts';
import { SEND_MISSING } from '../../runs/sending-jobs.ts';
import { ANSWERS, EVALUATION, waitForReaders } from '../../runs/wait-for-readers.ts';
import { failureOf, isTransient, jobKind, type JobKindPorts, type JobRun, type JobWorker } from '../kind.ts';

const parameters = z.object({
  run: z.string(),
  /** Number of the configuration that events are evaluated by. */
  configuration: z.string(),
  /** Checksum of the messages that a person confirmed. */
  checksum: z.string(),
  /** Slot states of the messages that were confirmed, such as `none` or `none,stopped`. */
  slot: z.string(),
  /** Duration for which a message is of use, such as `24h`. */
  expires: z.string(),
  /** Messages per second. */
  rate: z.string(),
  /** Questions to partners among the items. Jobs of earlier releases lack it. */
  questions: z.string().optional(),
});
type Parameters = z.infer<typeof parameters>;

/** Sends the missing messages of a comparison. Items are messages and lookups, oldest event first. */
export const sendMissing = jobKind({
  action: SEND_MISSING,
  permission: 'operate',
  audit: 'message.send',
  parameters,
  lane: 'paced',
  nameOf: nameOfSendItem,
  do: (run, ports) => sendEach(run, ports),
  undo: { audit: 'message.cancel', do: cancelEach },
});

/** Returns the sender of a job of this kind. `caughtUp` resolves when the messages of all recorded answers are in the ledger. */
export async function senderOf(
  { id, byName, createdAt, work, workspace }: Job,
  caughtUp: () => Promise<void>,
  ports: SendMissingPorts,
): Promise<MissingSender> {
  const { run, configuration, slot, expires } = parameters.parse(work);
  const sending = {
    sentBy: { person: byName, job: id, run: run as RunId },
    createdAt,
    expires: readExpires(expires),
    takesStopped: slot.split(',').includes('stopped'),
  };
  const pinned = await ports.configuration.at(Number(configuration));
  return createMissingSender(sending, { workspace: workspace ?? '', configuration: pinned, caughtUp }, ports);
}

/** Items are reported when so much time has passed, so progress moves at a low rate too. */
const REPORT_INTERVAL: Duration = 1_000;

function sendEach({ job, parameters: { rate } }: JobRun<Parameters>, ports: JobKindPorts): JobWorker {
  const nextTurn = createPace(1_000 / Number(rate), ports);
  let sender: MissingSender | null = null;
  let stopOfBatch: AbortSignal;
  return async (items, stop) => {
    stopOfBatch = stop;
    if (!sender) {
      await withRedriveLease(job.workspace ?? '', stop, ports, async () => undefined);
      await waitForReaders(EVALUATION, ports, stop);
      sender = await senderOf(job, () => waitForReaders(ANSWERS, ports, stopOfBatch), ports);
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
  if (!expires.ok) throw new Error(`the setting expires of the sending job is not a duration: ${expires.error}`);
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
