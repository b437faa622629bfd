import { MAX_JOB_ITEMS, newJob, type Job, type JobWork } from '@carillon/domain/jobs';
import { CarillonError, type JobId } from '@carillon/kernel';
import type { FastifyRequest } from 'fastify';
import { principalOf } from '../access/principal.ts';
import { audited } from '../audit/facts.ts';
import type { ControlPorts } from '../ports.ts';

export type JobPorts = Pick<ControlPorts, 'jobs' | 'ids' | 'clock'>;

/** Characters of all items of a job. They are one value of the store, which takes 16 MiB on MongoDB. */
const MAX_ITEMS_LENGTH = 4 * 1024 * 1024;
/** Bytes of a body that names the items of a job or of a count. Room for 10,000 entries with an address each. */
export const MAX_CHOICE_BYTES = 4 * 1024 * 1024;
/** Maximum characters kept of the user agent. */
const LONGEST_AGENT = 200;

type NewWork = {
  /** Defaults to a new id. */
  readonly id?: JobId;
  readonly workspace: string | null;
  readonly work: JobWork;
  readonly items: readonly string[];
};

/** Stores a job over these items in the name of the caller. The next free runner takes it. */
export async function startJob(
  request: FastifyRequest,
  { id, workspace, work, items }: NewWork,
  { jobs, ids, clock }: JobPorts,
): Promise<Job> {
  const { actor, name } = principalOf(request);
  const unique = [...new Set(items)];
  if (unique.length > MAX_JOB_ITEMS) {
    throw new CarillonError('invalid_request', `a job takes at most ${MAX_JOB_ITEMS} items, found ${unique.length}`);
  }
  if (unique.reduce((sum, item) => sum + item.length, 0) > MAX_ITEMS_LENGTH) {
    throw new CarillonError('wrong_state', 'these items are too long for one job: choose fewer');
  }
  const job = newJob(
    {
      id: id ?? (ids.random('job') as JobId),
      workspace,
      work,
      by: actor,
      byName: name,
      from: { address: request.ip, userAgent: request.headers['user-agent']?.slice(0, LONGEST_AGENT) ?? null },
      requestId: request.id,
      of: unique.length,
    },
    clock.now(),
  );
  audited(request, { target: job.id, ...(workspace !== null && { workspace }) });
  // The id is new: what has it already is an earlier try of this very write.
  await jobs.insert(job, unique);
  return job;
}
