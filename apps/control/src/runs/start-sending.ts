import type { runSendRequest } from '@carillon/contracts';
import type { Job } from '@carillon/domain/jobs';
import type { CompareRun } from '@carillon/domain/runs';
import { CarillonError, formatDuration, parseDuration, type Duration } from '@carillon/kernel';
import type { FastifyRequest } from 'fastify';
import type { z } from 'zod';
import { audited } from '../audit/facts.ts';
import { sendMissing } from '../jobs/kinds/send-missing.ts';
import { startJob, type JobPorts } from '../jobs/start.ts';
import { findMissing, type FindMissingPorts } from './find-missing.ts';
import { refuseChanged, type Missing } from './missing.ts';
import { readSelection, type selectionFields } from './selection.ts';
import { messageItem, questionItem } from './send-items.ts';

export type StartSendingPorts = FindMissingPorts & JobPorts;

type SendRequest = z.infer<typeof runSendRequest> & z.infer<z.ZodObject<typeof selectionFields>>;

/** Longer is most likely a typing mistake. */
const MAX_EXPIRES: Duration = 30 * 24 * 3_600_000;

/** Stores the job that sends the missing messages of a run. Throws CarillonError `conflict` if they are not those that were confirmed. */
export async function startSending(
  request: FastifyRequest,
  run: CompareRun,
  asked: SendRequest,
  ports: StartSendingPorts,
): Promise<Job> {
  refuseExpires(asked.expires);
  const { number } = await ports.configuration.refresh();
  const selection = readSelection(asked, ports.clock.now());
  const missing = await findMissing(run, selection, ports);
  refuseChanged(missing, asked);
  refuseTooSlow(missing, asked);
  if (ports.configuration.current().number !== number) {
    throw new CarillonError('conflict', 'another publication happened meanwhile: review the missing messages again');
  }
  const work = {
    action: sendMissing.action,
    run: run.id,
    configuration: String(number),
    checksum: missing.checksum,
    slot: selection.slotStates.toSorted().join(','),
    expires: asked.expires,
    rate: String(asked.rate),
    questions: String(missing.lookups.length),
  };
  const job = await startJob(request, { workspace: run.workspace, work, items: itemsOf(missing) }, ports);
  audited(request, { target: run.id, detail: `${job.id}: count ${missing.count}, checksum ${missing.checksum}` });
  return job;
}

function refuseExpires(text: string): void {
  const expires = parseDuration(text);
  const detail = expires.ok ? 'expected a duration from 1s to 30d' : expires.error;
  if (expires.ok && expires.value > 0 && expires.value <= MAX_EXPIRES) return;
  throw new CarillonError('invalid_request', `expires: ${detail}`, { pointer: '/expires' });
}

/** Throws if the last messages would be sent after they expire. */
function refuseTooSlow({ count }: Missing, { expires, rate }: SendRequest): void {
  const sending = Math.ceil(count / rate) * 1_000;
  const span = parseDuration(expires);
  if (!span.ok || sending <= span.value) return;
  throw new CarillonError(
    'invalid_request',
    `expires: ${count} messages at ${rate} a second take ${formatDuration(sending)}, and a message expires after ${expires}: set a longer expires or a higher rate`,
    { pointer: '/expires' },
  );
}

/** Returns the items, oldest event first, so that the job evaluates each event once. */
function itemsOf({ messages, lookups }: Missing): readonly string[] {
  return [
    ...messages.map((message) => ({ ...message.row, item: messageItem(message) })),
    ...lookups.map((lookup) => ({ ...lookup, item: questionItem(lookup) })),
  ]
    .toSorted((a, b) => a.at - b.at || (a.position === b.position ? 0 : a.position < b.position ? -1 : 1))
    .map(({ item }) => item);
}
