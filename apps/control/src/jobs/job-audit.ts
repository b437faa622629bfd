import type { AuditEntry } from '@carillon/domain/audit';
import type { Job, JobFailure } from '@carillon/domain/jobs';
import type { NewRecord } from '@carillon/ports';
import { onAudit } from '../audit/audit-log.ts';
import type { ControlPorts } from '../ports.ts';
import type { JobKind } from './kind.ts';
import { itemAudit } from './kinds.ts';

/** Returns true if an item failed with an internal error. It may have had an effect. */
const mayHaveEffect = ({ code }: JobFailure): boolean => code === 'internal';
/** Whether an item exists and was refused without an effect. */
export const isRefusal = (failure: JobFailure | null): failure is JobFailure =>
  failure !== null && failure.code !== 'not_found' && !mayHaveEffect(failure);

/** Items that a worker is done with. */
type Batch = {
  readonly items: readonly string[];
  readonly results: readonly (JobFailure | null)[];
  /** True until a refused item is on the audit. */
  readonly tellsRefusals: boolean;
};

export type JobAudit = {
  /** Writes the records of a batch before its items count. */
  readonly recordBatch: (job: Job, kind: JobKind, batch: Batch) => Promise<void>;
  /** Writes the record of a job that ends. */
  readonly recordEnd: (job: Job) => Promise<void>;
};

/** Writes what jobs do to the audit. */
export function createJobAudit(ports: Pick<ControlPorts, 'clock' | 'codecs' | 'ids' | 'log' | 'readModels'>): JobAudit {
  const entryOf = (job: Job, facts: Pick<AuditEntry, 'id' | 'what' | 'target' | 'outcome' | 'code'>): NewRecord =>
    onAudit(
      {
        kind: 'entry',
        at: ports.clock.now(),
        actor: job.by,
        workspace: job.workspace,
        from: job.from,
        requestId: job.requestId,
        number: null,
        before: null,
        after: null,
        detail: null,
        ...facts,
      },
      ports.codecs,
    );

  /**
   * Writes an audit record of each item that was done, or of which a part may have been done, before the item counts. A repetition writes
   * it under the same id. Refused items share one record, whose target is the job, and items that do not exist have none: the audit is kept
   * for ever, and anybody who may begin a job chooses what it names. The job counts and lists them.
   */
  async function recordBatch(job: Job, kind: JobKind, { items, results, tellsRefusals }: Batch): Promise<void> {
    const what = itemAudit(job, kind);
    const actions = await Promise.all(items.map(async (item) => (await kind.auditOf?.(item, ports)) ?? what));
    const records = items.flatMap((item, at) => {
      const failure = results[at] ?? null;
      const name = kind.nameOf?.(item, job, ports.ids);
      // An item that holds personal data is keyed, so that no reader of the audit can find it out by guesses.
      const id = ports.ids.derive('audit', job.id, name === undefined ? item : ports.ids.keyed('audit', item));
      const of = { id, what: actions[at] ?? what, target: name ?? item };
      if (failure === null) return [entryOf(job, { ...of, outcome: 'done', code: null })];
      return mayHaveEffect(failure) ? [entryOf(job, { ...of, outcome: 'failed', code: failure.code })] : [];
    });
    const refusal = tellsRefusals ? results.find(isRefusal) : undefined;
    if (refusal) {
      const id = ports.ids.derive('audit', job.id, 'refused items');
      records.push(entryOf(job, { id, what, target: job.id, outcome: 'refused', code: refusal.code }));
    }
    if (records.length > 0) await ports.log.append(records);
  }

  async function recordEnd(job: Job): Promise<void> {
    await ports.log.append([
      entryOf(job, {
        id: ports.ids.derive('audit', job.id),
        what: 'job.end',
        target: job.id,
        ...(job.cancelledBecause === undefined
          ? { outcome: job.state === 'failed' ? 'failed' : 'done', code: null }
          : { outcome: 'refused', code: 'forbidden_role' }),
      }),
    ]);
  }

  return { recordBatch, recordEnd };
}
