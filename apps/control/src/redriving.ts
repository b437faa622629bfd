import { TOPIC_DEFINITIONS } from '@carillon/contracts';
import { findResource, type Configuration } from '@carillon/domain/configuration';
import type { Delivery } from '@carillon/domain/deliveries';
import { formatPosition, type DeadLetter } from '@carillon/domain/events';
import type { Trigger } from '@carillon/domain/lookups';
import { CarillonError, durationOr, type EventId } from '@carillon/kernel';
import type { DeadLetterRow, NewRecord } from '@carillon/ports';
import {
  decodeRecord,
  isLeftOut,
  readAsking,
  REDRIVE_HEADER,
  REDRIVEN_FROM_HEADER,
  UNKNOWN_RECEIPT,
} from '@carillon/stages';
import type { ControlPorts } from './ports.ts';
import { withRedriveLease } from './runs/redrive-lease.ts';
import { createSentByJobs, type SentByJobs } from './runs/sent-by-jobs.ts';

/** Topics whose records are appended again unchanged. */
const REDRIVEN = [
  'carillon.events',
  'carillon.triggers',
  'carillon.lookups',
  'carillon.intents',
  'carillon.consents',
  'carillon.receipts',
] as const;
/** Topics of records that may notify people whom a sending job notifies too. */
const mayNotify = (topic: string): boolean =>
  isRedriven(topic) && topic !== 'carillon.consents' && topic !== 'carillon.receipts';
const isRedriven = (topic: string): topic is (typeof REDRIVEN)[number] => REDRIVEN.some((one) => one === topic);

/** Ports for appending a record again. */
export type RedrivePorts = Pick<
  ControlPorts,
  | 'log'
  | 'checkpoints'
  | 'codecs'
  | 'configuration'
  | 'ids'
  | 'jobs'
  | 'leases'
  | 'ledger'
  | 'tasks'
  | 'claims'
  | 'clock'
>;

export type Redrive = {
  /** Names a repetition of a question to a partner. Redrives of the same name ask once. */
  readonly asking: string;
  readonly sentByJobs: SentByJobs;
};

export type RedriveRequest = Pick<Redrive, 'asking'> & {
  readonly by: string;
  /** Ends the wait for delivery. */
  readonly stop: AbortSignal;
};

/** Appends the record of a dead letter to its topic again, with the person who asked for it. */
export async function redriveLetter(
  row: DeadLetterRow,
  { by, asking, stop }: RedriveRequest,
  ports: RedrivePorts & Pick<ControlPorts, 'readModels'>,
): Promise<DeadLetterRow> {
  const { log, codecs, clock, readModels } = ports;
  const [record] = await log.read('carillon.dead-letters', row.ownPartition, row.ownOffset, 1);
  const letter = record?.offset === row.ownOffset ? codecs.deadLetter.decode(record.value) : undefined;
  if (!letter?.ok) throw new CarillonError('wrong_state', 'retention has removed the report from the log');
  const sentByJobs = createSentByJobs(stop, ports);
  const makeRecord = () => redrivenRecord(letter.value, { asking, sentByJobs }, ports);
  // Waits for delivery, so that the lease is not held meanwhile.
  const made = await makeRecord();
  const { topic, workspace } = letter.value;
  if (workspace === null || !mayNotify(topic)) await log.append([made]);
  else await withRedriveLease(workspace, stop, ports, async () => log.append([await makeRecord()]));
  const redriven = { redrivenAt: clock.now(), redrivenBy: by };
  await readModels.markRedriven(row.id, redriven.redrivenAt, redriven.redrivenBy);
  return { ...row, ...redriven };
}

/**
 * The record of a dead letter once more: the same bytes, key and ids, so that what was already made of it stays one.
 * Throws CarillonError `wrong_state` where appending it would change nothing, with the reason.
 */
export async function redrivenRecord(letter: DeadLetter, redrive: Redrive, ports: RedrivePorts): Promise<NewRecord> {
  const { topic, partition, offset } = letter;
  if (letter.stage === 'append') {
    const why = 'the log does not have the record, and reading it from the source would fail again';
    throw new CarillonError('wrong_state', `${why}: npx carillon dead-letters dismiss ${letter.id}`);
  }
  if (!isRedriven(topic)) {
    throw new CarillonError('wrong_state', `records of ${topic} cannot be redriven: repair the cause and rebuild`);
  }
  const [standing] = isLeftOut(letter) ? await ports.log.read(topic, partition, offset, 1) : [];
  if (isLeftOut(letter) && standing?.offset !== offset) {
    throw new CarillonError('wrong_state', 'retention has removed the record from the log');
  }
  const { key, value, headers } = standing ?? letter;
  if (topic === 'carillon.receipts') await mustFitBetter({ ...letter, value }, ports);
  if (topic === 'carillon.events') await refuseSentEvent({ ...letter, headers }, redrive, ports);
  if (topic === 'carillon.intents') await refuseSentIntent(value, redrive, ports);
  const added =
    topic === 'carillon.triggers'
      ? await askAgain(value, redrive, ports)
      : topic === 'carillon.lookups'
        ? await resolveAgain({ ...letter, headers, value }, redrive, ports)
        : {};
  return { topic, partition, key, value, headers: { ...headers, ...added } };
}

/**
 * Rejects a redrive that could do harm. A report is applied once, and a STOP may be carried out twice. A START may not,
 * because the person may have sent a STOP since, which it would undo.
 */
async function mustFitBetter({ id, reason, value }: DeadLetter, { codecs }: RedrivePorts): Promise<void> {
  const receipt = await decodeRecord(codecs.receipt, value);
  if (!receipt.ok) {
    throw new CarillonError('wrong_state', `this release cannot read the receipt either: ${receipt.error.detail}`);
  }
  const { inbound } = receipt.value;
  if (inbound?.wish === 'start') {
    const why = 'a START is not applied late, because a STOP may have followed it';
    throw new CarillonError('wrong_state', `${why}: npx carillon dead-letters dismiss ${id}`);
  }
  if (inbound === null && reason === UNKNOWN_RECEIPT) {
    throw new CarillonError(
      'wrong_state',
      `the receipt would be refused again: npx carillon dead-letters dismiss ${id}`,
    );
  }
}

/** A trigger that was given up is asked again. */
async function askAgain(value: Uint8Array, redrive: Redrive, ports: RedrivePorts): Promise<NewRecord['headers']> {
  const { codecs, tasks } = ports;
  const trigger = codecs.trigger.decode(value);
  if (trigger.ok) await refuseSentSince(trigger.value, redrive);
  const task = trigger.ok ? await tasks.get(trigger.value.id) : null;
  if (trigger.ok && !task) mustBeRemembered(trigger.value, 'carillon.triggers', ports);
  const asking = task && readAsking(task);
  if (asking?.verdict?.kind === 'parked') {
    throw new CarillonError(
      'wrong_state',
      'the partner lookup is becoming a dead letter at this moment; try again in a second',
    );
  }
  if (asking && asking.ended?.kind !== 'parked') {
    const why = asking.trigger ? 'its partner lookup is already running again' : 'its partner has answered since';
    throw new CarillonError('wrong_state', `${why}: the trace of the event shows what became of it`);
  }
  return { [REDRIVE_HEADER]: redrive.asking };
}

/** An answer is never asked for again, and stays the first one of its trigger: it is resolved once more as what it was. */
async function resolveAgain(letter: DeadLetter, redrive: Redrive, ports: RedrivePorts): Promise<NewRecord['headers']> {
  const { log, codecs, claims } = ports;
  const { topic, partition, offset, headers, value } = letter;
  const from = headers[REDRIVEN_FROM_HEADER] ?? formatPosition({ logId: log.logId, topic, partition, offset });
  const lookup = codecs.lookup.decode(value);
  if (lookup.ok) await refuseSentSince(lookup.value.trigger, redrive);
  const claim = lookup.ok ? await claims.get(lookup.value.trigger.id) : null;
  if (lookup.ok && !claim) mustBeRemembered(lookup.value.trigger, 'carillon.lookups', ports);
  if (claim && claim.position !== from) {
    const why = `another answer to the same question is used (${claim.position}), so this one would change nothing`;
    throw new CarillonError('wrong_state', `${why}: the trace of the event shows what became of it`);
  }
  return { [REDRIVEN_FROM_HEADER]: from };
}

/**
 * Throws if a sending job has notified people of the event since the question was given up, or may still do so. The answer is resolved by
 * the rule as it was, so it may notify them again under another `unique_id`.
 */
async function refuseSentSince(
  { workspace, eventId, notification, sentBy }: Trigger,
  { sentByJobs }: Redrive,
): Promise<void> {
  const sent = await sentByJobs({ workspace, eventId, job: sentBy?.job });
  refuseFirst(
    sent.filter(({ intent }) => intent.notification === notification),
    'its answer may notify the same person again',
  );
}

/** Throws if a sending job has notified the person of a message about the event since, under another `unique_id`. The ledger compares the others. */
async function refuseSentIntent(value: Uint8Array, redrive: Redrive, ports: RedrivePorts): Promise<void> {
  const decoded = await decodeRecord(ports.codecs.intent, value);
  if (!decoded.ok) return;
  const { eventId, person, sentBy, slot } = decoded.value;
  const sent = await redrive.sentByJobs({ workspace: slot.workspace, eventId, job: sentBy?.job });
  const isSecond = ({ slot: other, intent }: Delivery): boolean =>
    intent.person === person &&
    other.notificationId === slot.notificationId &&
    other.channel === slot.channel &&
    other.uniqueId !== slot.uniqueId;
  refuseFirst(sent.filter(isSecond), 'this message would notify the same person again');
}

/** Throws if a sending job has notified people of the event by rules that were changed since. By the same rules the event gives the same slots. */
async function refuseSentEvent(
  { headers, workspace }: Pick<DeadLetter, 'headers' | 'workspace'>,
  redrive: Redrive,
  ports: RedrivePorts,
): Promise<void> {
  const eventId = headers['event_id'];
  if (workspace === null || eventId === undefined) return;
  const sent = await redrive.sentByJobs({ workspace, eventId: eventId as EventId, job: undefined });
  const rulesOf = (configuration: Configuration, name: string): string =>
    JSON.stringify(findResource(configuration, 'notification', workspace, name)?.body.rules ?? null);
  const present = await ports.configuration.refresh();
  const changed: Delivery[] = [];
  for (const delivery of sent) {
    const { configNumber, notification } = delivery.intent;
    const past = await ports.configuration.at(configNumber);
    if (rulesOf(past, notification) !== rulesOf(present, notification)) changed.push(delivery);
  }
  refuseFirst(changed, 'its rules were changed, so the event may notify the same person again');
}

function refuseFirst([first]: readonly Delivery[], why: string): void {
  if (!first) return;
  const sent = `${first.intent.sentBy?.job ?? 'a job'} has sent ${first.id} about its event since`;
  throw new CarillonError('wrong_state', `${sent}, and ${why}: compare again and send what is missing`);
}

/**
 * Throws if the outcome of a trigger may be past its retention. Within it, a missing outcome means that there was none;
 * later, the trigger may have been answered and people notified.
 */
function mustBeRemembered(
  { causedAt }: Trigger,
  topic: 'carillon.triggers' | 'carillon.lookups',
  { clock }: RedrivePorts,
): void {
  const { retention } = TOPIC_DEFINITIONS[topic];
  if (clock.now() - causedAt < durationOr(retention, Number.POSITIVE_INFINITY)) return;
  const why = `its event is older than the ${retention} for which outcomes are kept`;
  throw new CarillonError('wrong_state', `${why}: people may have been notified since; send the event again`);
}
