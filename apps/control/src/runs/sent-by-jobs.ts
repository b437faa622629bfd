import type { Delivery } from '@carillon/domain/deliveries';
import { hasEnded, type Job } from '@carillon/domain/jobs';
import { CarillonError, type EventId, type JobId } from '@carillon/kernel';
import type { ControlPorts } from '../ports.ts';
import { askedPartsOf, askingRulesOf, type QuestionPorts } from './questions.ts';
import { givesAway } from './sending-checks.ts';
import { mayHaveAsked, sendingJobs } from './sending-jobs.ts';
import { ANSWERS, CUSTODY, QUESTIONS, waitForReaders } from './wait-for-readers.ts';

export type SentByJobsPorts = QuestionPorts &
  Pick<ControlPorts, 'checkpoints' | 'configuration' | 'jobs' | 'ledger' | 'log'>;

/** The event of a record that a person wants to redrive. */
export type SentAbout = {
  readonly workspace: string;
  readonly eventId: EventId;
  /** The job that made the record itself. */
  readonly job: JobId | undefined;
};

/** Reads deliveries of other sending jobs. */
export type SentByJobs = (about: SentAbout) => Promise<readonly Delivery[]>;

/**
 * Returns a reader of the deliveries of an event that other sending jobs of the workspace have sent or may still send. It throws
 * CarillonError `conflict` while such a job has not ended, or while a partner whom it asked about the event may still answer. If the
 * workspace has sending jobs, the first call waits until delivery has their messages in the ledger. Later calls about the same event do not
 * wait, so that they can be made under the redrive lease; they throw `conflict` if a job or an answer has come since.
 */
export function createSentByJobs(stop: AbortSignal, ports: SentByJobsPorts): SentByJobs {
  let awaited: string | null = null;
  return async (about) => {
    const { workspace, job: own } = about;
    const others = (await sendingJobs(workspace, ports)).filter(({ id }) => id !== own);
    refuseUnfinished(others);
    const askers = others.filter(mayHaveAsked).map(({ id }) => id);
    if (awaited === null && askers.length > 0) await waitForReaders(QUESTIONS, ports, stop);
    const answers = await answersTo(askers, about, ports);
    const present = JSON.stringify([others.map(({ id }) => id), answers]);
    if (awaited !== null && awaited !== present) {
      const why = 'a sending job of the workspace has ended, or a partner has answered it, just now';
      throw new CarillonError('conflict', `${why}: redrive it again`);
    }
    if (awaited === null && others.length > 0) {
      await waitForReaders(answers.length > 0 ? ANSWERS : CUSTODY, ports, stop);
    }
    awaited = present;
    return deliveriesOf(about, ports);
  };
}

function refuseUnfinished(others: readonly Job[]): void {
  const unfinished = others.find((job) => !hasEnded(job));
  if (!unfinished) return;
  const why = `${unfinished.id} is sending missing messages of the workspace, maybe about its event`;
  throw new CarillonError('conflict', `${why}: redrive it when ${unfinished.id} has ended`);
}

async function deliveriesOf(
  { workspace, eventId, job: own }: SentAbout,
  { ledger }: Pick<ControlPorts, 'ledger'>,
): Promise<readonly Delivery[]> {
  const sent: Delivery[] = [];
  for (const delivery of await ledger.byEvent(eventId)) {
    const job = delivery.intent.sentBy?.job;
    // Workspaces share events, and a notification of another workspace may have the same name.
    if (job === undefined || job === own || delivery.slot.workspace !== workspace) continue;
    if (!(await givesAway(delivery, { ledger }))) sent.push(delivery);
  }
  return sent;
}

/** Returns positions of the answers that jobs got about an event. Throws CarillonError `conflict` if a partner may still answer. */
async function answersTo(
  askers: readonly JobId[],
  { workspace, eventId }: Pick<SentAbout, 'workspace' | 'eventId'>,
  ports: SentByJobsPorts,
): Promise<readonly string[]> {
  const answers: string[] = [];
  const rules = askers.length > 0 ? [...askingRulesOf(workspace, ports.configuration).values()] : [];
  for (const ruleId of rules.flatMap((ofNotification) => [...ofNotification])) {
    for (const askedBy of askers) {
      for (const { state, position } of await askedPartsOf({ ruleId, eventId, askedBy }, ports)) {
        if (state === 'open') {
          const why = `a partner whom ${askedBy} asked about its event has not answered yet, and both may notify the same person`;
          throw new CarillonError(
            'conflict',
            `${why}: redrive it when the partner has answered or the question was given up`,
          );
        }
        if (position !== null) answers.push(position);
      }
    }
  }
  return answers;
}
