import { MAX_RUN_ROWS, slotStateOf, slotToLookUp, type Row, type Run, type RunCounts } from '@carillon/domain/runs';
import type { DeliveryId, RunId } from '@carillon/kernel';
import type { DeliveryLedger, RunStore } from '@carillon/ports';
import { createRowCounter, type ComparedSlot } from '@carillon/stages';
import { z } from 'zod';
import type { ComparisonReports } from '../../runs/comparison.ts';
import { failureOf, isTransient, JobCancelled, jobKind, type JobKindPorts } from '../kind.ts';

type DifferentSlots = readonly (ComparedSlot & { readonly difference: Row['difference'] })[];

/** The one item is the run. */
export const compareHistory = jobKind({
  action: 'compare_history',
  permission: ['configure', 'operate'],
  audit: 'run.end',
  parameters: z.object({ run: z.string() }),
  lane: 'child',
  do: (_job, ports) => async (items, stop) => {
    const results = [];
    for (const item of items) {
      try {
        await compare(item as RunId, ports, stop);
        results.push(null);
      } catch (error) {
        const cause: unknown = stop.aborted ? stop.reason : error;
        if (cause instanceof JobCancelled) {
          await discard(item as RunId, ports);
          ports.comparison?.ended('cancelled');
        }
        // The scratch file may fill the disk, and then no retry can write until the file is deleted.
        if (isTransient(cause)) await ports.comparison?.forget({ id: item as RunId });
        if (stop.aborted || isTransient(error)) throw error;
        const failure = failureOf(item, error, ports.watch);
        await discard(item as RunId, ports);
        ports.comparison?.ended('failed');
        results.push(failure);
      }
      await ports.comparison?.forget({ id: item as RunId });
    }
    return results;
  },
});

/** Removes what a run leaves that ends without a result. */
async function discard(id: RunId, { comparison, runs }: Pick<JobKindPorts, 'comparison' | 'runs'>): Promise<void> {
  // Frees the disk first: on a full disk no row can be removed until the scratch file is gone.
  await comparison?.forget({ id });
  await runs.removeRows(id);
}

type Written = Partial<Pick<Run, 'progress' | 'counts' | 'checksum'>>;

/** Writes fields of a run over its newest version. Resolves when they are stored, or when the run is gone. */
async function writeRun(id: RunId, runs: RunStore, fields: Written): Promise<void> {
  for (let run = await runs.get(id); run; run = await runs.get(id)) {
    if ((await runs.replace({ ...run, ...fields, version: run.version + 1 })) === 'done') return;
  }
}

async function compare(id: RunId, ports: JobKindPorts, stop: AbortSignal): Promise<void> {
  const { runs, comparison } = ports;
  const run = await runs.get(id);
  if (!run || !comparison) throw new Error(`run ${id} cannot be compared here`);
  // The process that ended after it wrote the result, and before it counted the item.
  if (run.checksum !== null) return;
  let counter = createRowCounter();
  let kept = 0;
  let keptLookups = 0;
  const reports: ComparisonReports = {
    async begin() {
      counter = createRowCounter();
      kept = 0;
      keptLookups = 0;
      await runs.removeRows(id);
    },
    progress: (progress, read) => writeRun(id, runs, { progress, counts: { read, rows: null } }),
    async slots(slots) {
      const rows = await rowsOf(id, slots as DifferentSlots, ports.ledger);
      for (const row of rows) counter.addRow(row, row.slotState);
      const fitting = rows.slice(0, MAX_RUN_ROWS - kept);
      await runs.addRows(fitting);
      kept += fitting.length;
    },
    async lookups(lookups) {
      const fitting = lookups.slice(0, MAX_RUN_ROWS - keptLookups);
      await runs.addLookups(fitting.map((lookup) => ({ ...lookup, run: id })));
      keptLookups += fitting.length;
    },
  };
  const { checksum, counts: read, unchanged } = await comparison.compare(run, await runs.edit(id), reports, stop);
  for (const [rule, slots] of unchanged) counter.addUnchanged(rule, slots);
  const counts: RunCounts = { read, rows: counter.counts() };
  await writeRun(id, runs, {
    counts,
    checksum,
    progress: { read: run.progress.total, total: run.progress.total },
  });
  comparison.ended('done');
}

/** Adds to slots what the ledger knows about their deliveries. A digested delivery counts as its digest does. */
async function rowsOf(
  run: RunId,
  slots: DifferentSlots,
  ledger: Pick<DeliveryLedger, 'many'>,
): Promise<readonly Row[]> {
  const read = async (ids: readonly DeliveryId[]) =>
    new Map((ids.length > 0 ? await ledger.many(ids) : []).map((delivery) => [delivery.id, delivery]));
  const deliveries = await read(slots.map(slotToLookUp));
  const digests = await read([...deliveries.values()].flatMap(({ digestedIn }) => digestedIn ?? []));
  return slots.map((slot) => {
    const delivery = deliveries.get(slotToLookUp(slot));
    const digest = delivery?.digestedIn === undefined ? undefined : digests.get(delivery.digestedIn);
    return { ...slot, run, ...slotStateOf(delivery, digest) };
  });
}
