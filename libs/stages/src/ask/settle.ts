import type { LookupIntegration } from '@carillon/domain/configuration';
import {
  afterAnswer,
  afterDeadline,
  afterFailure,
  askAlone,
  attribute,
  attributionOf,
  type Asking,
  type CallEvidence,
  type OwnAnswer,
} from '@carillon/domain/lookups';
import type { Duration, Instant } from '@carillon/kernel';
import type { PartnerAnswer } from '@carillon/ports';
import { publishVerdict, type VerdictPorts } from './publish.ts';
import { moveTask, type AskTask } from './tasks.ts';

/** A call that was made, with what came of it. */
export type MadeCall = {
  readonly callId: string;
  readonly startedAt: Instant;
  readonly endedAt: Instant;
  readonly answer: PartnerAnswer;
  /** True if a refusal applies to every call now, and so to each trigger of this one. */
  readonly toEverybody: boolean;
};

/** Decided tasks come before all tasks that wait for a call, because they need no partner, only the log. */
const DECIDED: Instant = 0;
/** How soon a call that was not made is tried again. */
const NOT_MADE_PAUSE: Duration = 500;

/**
 * Stores the result of a call for each trigger that shared it, and publishes final results. Returns the triggers that
 * still wait. If another worker took a trigger over, this result is discarded for it, because one answer counts.
 */
export async function settleCall(
  shared: readonly AskTask[],
  call: MadeCall,
  integration: LookupIntegration,
  ports: VerdictPorts,
): Promise<readonly AskTask[]> {
  const { answer, endedAt, toEverybody } = call;
  if (answer.kind === 'not_made') {
    return waiting(await releaseTasks(shared, endedAt + NOT_MADE_PAUSE, ports));
  }
  if (answer.kind === 'answered') return settleAnswer(shared, call, answer, integration, ports);
  const evidence = evidenceOf(call, answer.kind, answer.status, answer.detail, shared.length);
  const retryAfter = answer.kind === 'throttled' ? answer.retryAfter : null;
  return settleEach(shared, ports, ({ asking }) =>
    afterFailure(
      asking,
      { evidence: { ...evidence, outcome: answer.kind }, retryAfter, toEverybody },
      ports.ids.chance(),
    ),
  );
}

function settleAnswer(
  shared: readonly AskTask[],
  call: MadeCall,
  answer: Extract<PartnerAnswer, { kind: 'answered' }>,
  integration: LookupIntegration,
  ports: VerdictPorts,
): Promise<readonly AskTask[]> {
  const { callId, startedAt, endedAt } = call;
  const asked = shared.map(({ asking }) => asking.trigger?.userIds ?? []);
  const attributed = attribute(answer.items, asked, attributionOf(integration), answer.unread);
  const detail = attributed.ok ? `${answer.items.length} items` : `${attributed.error}; asking one by one`;
  const evidence = evidenceOf(call, 'answered', answer.status, detail, shared.length);
  const ownOf = (task: AskTask): OwnAnswer | undefined =>
    attributed.ok ? attributed.value[shared.indexOf(task)] : undefined;
  return settleEach(shared, ports, (one) => {
    const { task, asking } = one;
    const own = ownOf(one);
    if (!own || !asking.trigger) return { asking: askAlone(asking, evidence), nextAt: endedAt };
    const lookup = {
      // An operator's redrive may have given it more time.
      trigger: { ...asking.trigger, notAfter: task.deadline ?? asking.trigger.notAfter },
      callId,
      askedAt: startedAt,
      answeredAt: endedAt,
      status: answer.status,
      calls: asking.calls + 1,
      sharedBy: shared.length,
      ...own,
    };
    return { asking: afterAnswer(asking, lookup, evidence), nextAt: endedAt };
  });
}

type Settled = { readonly asking: Asking; readonly nextAt: Instant };

async function settleEach(
  shared: readonly AskTask[],
  ports: VerdictPorts,
  settle: (one: AskTask) => Settled,
): Promise<readonly AskTask[]> {
  const settled = await Promise.all(
    shared.map(async (one) => {
      const { asking, nextAt } = settle(one);
      const deadline = one.task.deadline ?? Number.POSITIVE_INFINITY;
      // A decided task keeps its lease until its outcome is on the log.
      const lease = asking.verdict ? {} : { leaseUntil: null };
      const dueAt = asking.verdict ? DECIDED : Math.min(nextAt, deadline);
      const moved = await moveTask(one, { asking, nextAt: dueAt, ...lease }, ports.tasks);
      if (moved?.asking.verdict) await publishVerdict(moved, ports);
      return moved;
    }),
  );
  return waiting(settled);
}

const waiting = (tasks: readonly (AskTask | null)[]): readonly AskTask[] =>
  tasks.filter((one) => one !== null && one.asking.verdict === null) as readonly AskTask[];

const evidenceOf = (
  { callId, startedAt, endedAt }: MadeCall,
  outcome: CallEvidence['outcome'],
  status: number | null,
  detail: string,
  sharedBy: number,
): CallEvidence => ({ at: startedAt, callId, outcome, status, detail, took: endedAt - startedAt, sharedBy });

/** Takes the leases of tasks. Returns those that no other process moved meanwhile. */
export async function leaseTasks(
  wanted: readonly AskTask[],
  until: Instant,
  ports: Pick<VerdictPorts, 'tasks'>,
): Promise<readonly AskTask[]> {
  const leased = await Promise.all(wanted.map((one) => moveTask(one, { leaseUntil: until }, ports.tasks)));
  return leased.filter((one) => one !== null);
}

/** Gives them back: anybody may ask from `nextAt` on. */
export const releaseTasks = (
  leased: readonly AskTask[],
  nextAt: Instant,
  ports: Pick<VerdictPorts, 'tasks'>,
): Promise<readonly (AskTask | null)[]> =>
  Promise.all(leased.map((one) => moveTask(one, { leaseUntil: null, nextAt }, ports.tasks)));

/** Parks a trigger whose time is over. */
export async function expireTask(one: AskTask, ports: VerdictPorts): Promise<void> {
  const moved = await moveTask(one, { asking: afterDeadline(one.asking), nextAt: DECIDED }, ports.tasks);
  if (moved) await publishVerdict(moved, ports);
}
