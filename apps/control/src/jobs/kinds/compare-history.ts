import {
  DEFAULT_RUN_RANGE,
  MAX_RUN_ROWS,
  slotStateOf,
  slotToLookUp,
  type CompareRun,
  type Row,
  type RunCounts,
} from '@carillon/domain/runs';
import type { DeliveryId, RunId } from '@carillon/kernel';
import type { DeliveryLedger } from '@carillon/ports';
import { createRowCounter, type ComparedSlot } from '@carillon/stages';
import { prepareComparison } from '../../runs/prepare-comparison.ts';
import type { RunReports } from '../../runs/run-child.ts';
import { runKind } from '../../runs/run-kind.ts';
import { showComparison } from '../../runs/show-comparison.ts';
import { writeRun } from '../../runs/write-run.ts';
import type { JobKindPorts } from '../kind.ts';

type DifferentSlots = readonly (ComparedSlot & { readonly difference: Row['difference'] })[];

/** Compares two configurations over past events. */
export const compareHistory = runKind({
  kind: 'compare',
  action: 'compare_history',
  noun: 'comparison',
  defaultRange: DEFAULT_RUN_RANGE,
  prepare: prepareComparison,
  execute: compare,
  show: showComparison,
});

async function compare(run: CompareRun, ports: JobKindPorts, stop: AbortSignal): Promise<void> {
  const { runs, runChild } = ports;
  const { id } = run;
  let counter = createRowCounter();
  let kept = 0;
  let keptLookups = 0;
  const reports: RunReports<'compare'> = {
    async begin() {
      counter = createRowCounter();
      kept = 0;
      keptLookups = 0;
      await runs.removeRows(id);
    },
    progress: (progress, read) => writeRun(run, runs, { progress, counts: { read, rows: null } }),
    async slots(slots) {
      const rows = await rowsOf(id, slots as DifferentSlots, ports.ledger);
      for (const row of rows) counter.addRow(row, row.slotState);
      const fitting = rows.slice(0, MAX_RUN_ROWS - kept);
      await runs.addRows(fitting);
      kept += fitting.length;
      return rows.map(({ slotState }) => slotState);
    },
    async lookups(lookups) {
      const fitting = lookups.slice(0, MAX_RUN_ROWS - keptLookups);
      await runs.addLookups(fitting.map((lookup) => ({ ...lookup, run: id })));
      keptLookups += fitting.length;
    },
  };
  const order = { edit: await runs.edit(id) };
  const result = await runChild.execute<'compare'>(run, order, reports, stop);
  if (!result) throw new Error(`the comparison ${id} ended without a result`);
  const { checksum, counts: read, unchanged, people } = result;
  for (const [rule, slots] of unchanged) counter.addUnchanged(rule, slots);
  const counts: RunCounts = { read, rows: { ...counter.counts(), ...people } };
  await writeRun(run, runs, {
    counts,
    checksum,
    progress: { read: run.progress.total, total: run.progress.total },
  });
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
