import type { Asking, CallEvidence } from '@carillon/domain/lookups';
import type { Duration, Instant } from '@carillon/kernel';
import type { TaskQueue } from '@carillon/ports';
import { partnerOf, readTask, type AskTask } from '@carillon/stages';
import type { ControlPorts } from './ports.ts';

/** Triggers read of a partner. If there are more, the answer says so. */
export const MAX_WAITING = 500;
/** Every task is due by then. */
const LATEST: Duration = 400 * 86_400_000;

/** A trigger that waits for a partner. */
export type WaitingTrigger = {
  readonly id: string;
  readonly trigger: Asking['trigger'];
  /** When the engine took the trigger, or an operator's redrive of it. Null if the task does not say. */
  readonly takenAt: Instant | null;
  readonly calls: number;
  /** The newest call. Null before the first. */
  readonly last: CallEvidence | null;
  /** The first of the failed calls since the partner last answered. Null if the newest call did not fail. */
  readonly failingSince: Instant | null;
  readonly nextAt: Instant;
  readonly deadline: Instant | null;
};

/** A partner that triggers wait for. */
export type WaitingPartner = {
  readonly workspace: string;
  readonly integration: string;
  readonly events: number;
  /** False: more than `MAX_WAITING` triggers wait. */
  readonly complete: boolean;
  /** Null: no call failed; the triggers wait for their first answer. */
  readonly failingSince: Instant | null;
  readonly last: CallEvidence | null;
  readonly nextAt: Instant;
};

type WaitingPorts = Pick<ControlPorts, 'tasks' | 'clock' | 'slice'>;

/** Returns the partners that triggers wait for, by workspace and name. */
export async function waitingPartners(
  sees: (workspace: string) => boolean,
  ports: WaitingPorts,
): Promise<readonly WaitingPartner[]> {
  const queues = await ports.tasks.dueQueues(ports.clock.now() + LATEST);
  const partners: WaitingPartner[] = [];
  for (const queue of queues.filter(({ workspace }) => sees(workspace))) {
    const partner = summaryOf(queue, await waitingFor(queue, ports));
    if (partner) partners.push(partner);
  }
  return partners.toSorted((a, b) => (nameOf(a) < nameOf(b) ? -1 : 1));
}

const nameOf = ({ workspace, integration }: WaitingPartner): string => `${workspace}/${integration}`;

/** Returns the triggers that wait for a partner, the next attempt first, at most `MAX_WAITING`. */
export async function waitingFor(
  queue: TaskQueue,
  { tasks, clock, slice }: WaitingPorts,
): Promise<readonly WaitingTrigger[]> {
  const waiting: WaitingTrigger[] = [];
  for (const task of await tasks.due(queue, clock.now() + LATEST, MAX_WAITING)) {
    // Each trigger may hold the user ids of many people.
    if (slice.isExpired()) await slice.yield();
    waiting.push(waitingTrigger(readTask(task)));
  }
  return waiting;
}

function waitingTrigger({ task, asking }: AskTask): WaitingTrigger {
  const { trigger, calls, evidence } = asking;
  // A redrive moves the deadline, and leaves the trigger as it was.
  const takenAt = trigger && task.deadline !== null ? task.deadline - (trigger.notAfter - trigger.causedAt) : null;
  const answered = evidence.findLastIndex(({ outcome }) => outcome === 'answered');
  const failed = evidence.slice(answered + 1);
  // Only the newest calls are stored, so the first failure of a long outage may be missing.
  const isWhole = answered >= 0 || calls <= evidence.length;
  const first = failed[0]?.at ?? null;
  return {
    id: task.id,
    trigger,
    takenAt,
    calls,
    last: evidence.at(-1) ?? null,
    failingSince: first === null || isWhole ? first : (takenAt ?? first),
    nextAt: task.nextAt,
    deadline: task.deadline,
  };
}

function summaryOf(queue: TaskQueue, waiting: readonly WaitingTrigger[]): WaitingPartner | null {
  if (waiting.length === 0) return null;
  const failing = waiting.filter(({ failingSince }) => failingSince !== null);
  const newest = failing.toSorted((a, b) => (a.last?.at ?? 0) - (b.last?.at ?? 0)).at(-1);
  return {
    ...partnerOf(queue),
    events: new Set(waiting.map(({ id, trigger }) => trigger?.eventId ?? id)).size,
    complete: waiting.length < MAX_WAITING,
    failingSince: failing.length === 0 ? null : Math.min(...failing.map((one) => one.failingSince ?? 0)),
    last: newest?.last ?? null,
    nextAt: Math.min(...(failing.length === 0 ? waiting : failing).map(({ nextAt }) => nextAt)),
  };
}
