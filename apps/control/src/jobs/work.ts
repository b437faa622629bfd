import { stat } from 'node:fs/promises';
import {
  operatorCancel,
  operatorDismiss,
  operatorResend,
  wasDecided,
  type AuditAction,
  type Delivery,
  type Job,
  type JobAction,
  type JobFailure,
  type Moment,
  type OperatorDecision,
} from '@carillon/domain';
import { CarillonError, ERRORS, isCarillonError, type DeliveryId, type Result } from '@carillon/kernel';
import { decideOnDelivery, sideBySide } from '@carillon/stages';
import { expiresOf } from '../deliveries.ts';
import { planPromotion, writeTransfer, type PromotePorts } from '../drafts/promote.ts';
import type { ControlPorts } from '../ports.ts';
import { redriveLetter, type RedrivePorts } from '../redriving.ts';

export type WorkPorts = PromotePorts &
  RedrivePorts &
  Pick<ControlPorts, 'ledger' | 'readModels' | 'backup' | 'watch' | 'drafts'>;

/** What became of items, in their order: null where one was done. Rejects where a store or the log is away: then they are tried again. */
export type JobWorker = (items: readonly string[]) => Promise<readonly (JobFailure | null)[]>;

/** What the audit calls each item of a job. */
export const AUDITED_AS: Readonly<Record<JobAction, AuditAction>> = {
  resend_deliveries: 'delivery.resend',
  cancel_deliveries: 'delivery.cancel',
  dismiss_deliveries: 'delivery.dismiss',
  redrive_dead_letters: 'dead_letter.redrive',
  dismiss_receipts: 'receipt.dismiss',
  promote: 'promotion.write',
  write_backup: 'backup.write',
};

/** Items of one job that are under way at once. */
const AT_ONCE = 8;

/**
 * Does what a job asks for, so that an item that comes twice, after a crash or with two runners at once, is done once: what is done names
 * the job, and is recognized by it.
 */
export function workerOf(job: Job, ports: WorkPorts): JobWorker {
  const { work } = job;
  const by = `${job.byName} in ${job.id}`;
  switch (work.action) {
    case 'resend_deliveries':
      return deciding(job, 'resend', by, ports, (seen, moment) =>
        operatorResend(seen, expiresOf(ports.configuration.current(), seen), by, moment),
      );
    case 'cancel_deliveries':
      return deciding(job, 'cancel', by, ports, (seen, moment) => operatorCancel(seen, by, moment));
    case 'dismiss_deliveries':
      return deciding(job, 'dismiss', by, ports, (seen, moment) =>
        operatorDismiss(seen, work.as, work.reason, by, moment),
      );
    case 'redrive_dead_letters':
      return eachFor(ports, (item) => redrive(item, job, by, ports));
    case 'dismiss_receipts':
      return eachFor(ports, (item) => dismissReceipt(item, job, ports));
    case 'promote':
      return promoting(work.from, job, ports);
    case 'write_backup':
      return eachFor(ports, () => backUp(work.file, job, ports));
  }
}

function deciding(
  { workspace }: Job,
  decision: OperatorDecision,
  by: string,
  ports: WorkPorts,
  decide: (delivery: Delivery, moment: Moment) => Result<Delivery, string>,
): JobWorker {
  const find = async (id: string): Promise<Delivery> => {
    const delivery = await ports.ledger.get(id as DeliveryId);
    if (delivery && delivery.slot.workspace === workspace) return delivery;
    throw new CarillonError('not_found', `there is no delivery ${id} in workspace ${workspace ?? ''}`);
  };
  const decided = { ok: true, value: null } as const;
  return eachFor(ports, async (id) => {
    await decideOnDelivery(
      () => find(id),
      (seen) =>
        wasDecided(seen, decision, by) ? decided : decide(seen, { now: ports.clock.now(), derive: ports.ids.derive }),
      { ...ports, untold: (error) => ports.watch.trouble('publish', error) },
    );
  });
}

/** Does each item for itself. What a store or the log refuses for now is no failure of an item. */
function eachFor({ watch }: Pick<WorkPorts, 'watch'>, work: (item: string) => Promise<unknown>): JobWorker {
  return async (items) => {
    const results = new Map<string, JobFailure | null>();
    await sideBySide(items, AT_ONCE, async (item) => {
      try {
        await work(item);
        results.set(item, null);
      } catch (error) {
        if (mayPass(error)) throw error;
        results.set(item, failureOf(item, error, watch));
      }
    });
    return items.map((item) => results.get(item) ?? null);
  };
}

const mayPass = (error: unknown): boolean => isCarillonError(error) && ERRORS[error.code].status === 503;

function failureOf(item: string, error: unknown, watch: WorkPorts['watch']): JobFailure {
  if (!isCarillonError(error)) watch.trouble(`an item of a job, ${item}`, error);
  const { code, detail } = isCarillonError(error)
    ? error
    : { code: 'internal', detail: 'something failed on our side; the log of the control role says what' };
  return { item, code, detail };
}

async function redrive(id: string, job: Job, by: string, ports: WorkPorts): Promise<void> {
  const row = await ports.readModels.deadLetter(id);
  if (!row || row.workspace !== job.workspace) {
    throw new CarillonError('not_found', `there is no dead letter ${id} in workspace ${job.workspace ?? ''}`);
  }
  if (row.redrivenBy === by) return;
  await redriveLetter(row, { by, asking: ports.ids.derive('request', job.id, id) }, ports);
}

/** Whoever dismissed it first stays the one who did, so that an item that comes twice changes nothing. */
async function dismissReceipt(id: string, { workspace, byName }: Job, { readModels, clock }: WorkPorts): Promise<void> {
  const row = await readModels.deadLetter(id);
  if (row?.stage !== 'receipts' || row.workspace !== workspace) {
    throw new CarillonError('not_found', `there is no parked receipt ${id} in workspace ${workspace ?? ''}`);
  }
  await readModels.markDismissed(id, clock.now(), byName);
}

/**
 * Promotes items over one plan. Where that is refused, each item has a plan of its own: one that is gone from the test environment
 * fails alone, and the job ends.
 */
const promoting =
  (from: string, job: Job, ports: WorkPorts): JobWorker =>
  async (items) => {
    try {
      return await promote(items, from, job, ports);
    } catch (error) {
      if (mayPass(error)) throw error;
    }
    const results: (JobFailure | null)[] = [];
    for (const item of items) {
      try {
        results.push(...(await promote([item], from, job, ports)));
      } catch (error) {
        if (mayPass(error)) throw error;
        results.push(failureOf(item, error, ports.watch));
      }
    }
    return results;
  };

/** Drafts of some resources of a test environment; one that is no longer otherwise needs none. */
async function promote(items: readonly string[], from: string, job: Job, ports: WorkPorts) {
  const named = items.map((item) => {
    const [kind = '', name = ''] = item.split('/');
    return { kind, name };
  });
  const { wanted, inTheWay } = await planPromotion(from, { resources: named }, ports);
  const written = await writeTransfer({ from, wanted }, job.by, ports);
  const blocked = new Map([...inTheWay, ...written.inTheWay].map(({ ref, by }) => [`${ref.kind}/${ref.name}`, by]));
  return items.map((item) => {
    const author = blocked.get(item);
    if (!author) return null;
    const detail = `${author.kind} ${author.id} has a draft of it in ${job.workspace ?? ''}: publish or discard that first`;
    return { item, code: 'draft_conflict', detail };
  });
}

/** A file takes its name when it is whole, and is never written over: one that is there, made since the job began, is ours. */
async function backUp(file: string, { startedAt }: Job, { backup }: WorkPorts): Promise<void> {
  const made = await stat(file).then(
    ({ mtimeMs }) => mtimeMs,
    () => null,
  );
  if (made !== null && startedAt !== null && made >= startedAt) return;
  await backup(file);
}
