import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openScratchFile, type ScratchFile } from '@carillon/adapter-embedded';
import { createIds, loadKeys, systemClock } from '@carillon/adapter-system';
import { createRecordCodecs } from '@carillon/contracts';
import { OWNER_ACTOR } from '@carillon/domain/people';
import type { Finding, VerifyCounts, VerifyRun } from '@carillon/domain/runs';
import type { JobId, RunId } from '@carillon/kernel';
import type { CheckpointStore, EventLog } from '@carillon/ports';
import { createConfigurationView, planVerification, type RuleBook } from '@carillon/stages';
import { givenRuleBook } from '@carillon/testing/given';
import { withErasedOffsets } from '../../apps/cli/src/process/erased-records.ts';
import { openHistoryOf, type HistorySource } from '../../apps/cli/src/replay/history-source.ts';
import { verifyHistory } from '../../apps/cli/src/replay/verify-history.ts';

/** An open data folder. */
export type VerifiedData = {
  readonly log: Pick<EventLog, 'logId' | 'partitions' | 'read' | 'bounds'>;
  readonly checkpoints: Pick<CheckpointStore, 'load'>;
};

export type Verified = {
  readonly findings: readonly Finding[];
  readonly counts: VerifyCounts;
  readonly checksum: string;
};

/** Returns a run that verifies the whole log of a data folder. */
export async function verificationOf({ log, checkpoints }: VerifiedData, workspace = 'shop'): Promise<VerifyRun> {
  const offsets = [];
  for (let partition = 0; partition < log.partitions('carillon.events'); partition += 1) {
    const { start: first, end } = await log.bounds('carillon.events', partition);
    if (end > first) offsets.push({ partition, first, end });
  }
  const now = systemClock.now();
  const plan = await planVerification(offsets, { from: 0 }, { log, checkpoints });
  return {
    ...plan,
    id: `run_${workspace}` as RunId,
    kind: 'verify',
    workspace,
    by: OWNER_ACTOR,
    from: 0,
    to: now,
    logStartsAt: null,
    logId: log.logId,
    published: (await log.bounds('carillon.config', 0)).end - 1,
    progress: { read: 0, total: plan.offsets.reduce((sum, { first, end }) => sum + end - first, 0) },
    counts: null,
    checksum: null,
    job: 'job_1' as JobId,
    createdAt: now,
    version: 1,
  };
}

export type VerifyOptions = {
  readonly pageRecords?: number;
  /** Rules. Defaults to those of the product. */
  readonly book?: RuleBook;
  /** Wraps the scratch file. */
  readonly scratch?: (file: ScratchFile) => ScratchFile;
  /** First offset of `carillon.events/0` that retention has kept. Defaults to that of the log. */
  readonly eventsStart?: number;
  /** Offsets of `carillon.events/0` that an erasure has emptied. */
  readonly erased?: readonly number[];
  /** Folder of the scratch file. Defaults to a new one. */
  readonly folder?: string;
};

/** Executes a verification of a data folder in this process, as the child process does. */
export const verifyFolder = (
  dataDir: string,
  run: VerifyRun,
  ledgerKey: Uint8Array,
  options?: VerifyOptions,
): Promise<Verified> => verifySource({ kind: 'embedded', dataDir }, run, ledgerKey, options);

async function verifySource(
  source: HistorySource,
  run: VerifyRun,
  ledgerKey: Uint8Array,
  {
    book = givenRuleBook(),
    erased = [],
    eventsStart,
    pageRecords,
    scratch: wrap = (file) => file,
    folder,
  }: VerifyOptions = {},
): Promise<Verified> {
  const own = folder ?? (await mkdtemp(join(tmpdir(), 'carillon-verify-')));
  const history = await openHistoryOf(source, run.logId, null);
  const bounds: typeof history.bounds = async (topic, partition) => {
    const whole = await history.bounds(topic, partition);
    return topic === 'carillon.events' && partition === 0 ? { ...whole, start: eventsStart ?? whole.start } : whole;
  };
  const scratch = openScratchFile(join(own, `${run.id}.scratch`), run.id);
  const findings: Finding[] = [];
  try {
    const codecs = await createRecordCodecs(history.registry, () => systemClock.now());
    const result = await verifyHistory(
      {
        run,
        history: withErasedOffsets({ ...history, bounds }, { 'carillon.events': { 0: erased } }),
        scratch: wrap(scratch),
        codecs,
        configuration: createConfigurationView(history, codecs.configuration, systemClock),
        book,
        ids: createIds(ledgerKey),
        pace: { afterPage: async () => undefined },
        pageRecords,
      },
      { progress: () => undefined, findings: async (batch) => void findings.push(...batch) },
    );
    return { ...result, findings };
  } finally {
    scratch.close();
    history.close();
    if (folder === undefined) await rm(own, { recursive: true, force: true });
  }
}

/** Verifies the whole log of a deployment. `dataDir`: the folder of its keys. `source`: its log, if that is elsewhere. */
export async function verifyWhole(
  dataDir: string,
  data: VerifiedData,
  {
    source = { kind: 'embedded', dataDir },
    workspace,
  }: { readonly source?: HistorySource; readonly workspace?: string } = {},
): Promise<Omit<Verified, 'findings'> & { readonly wrong: readonly string[] }> {
  const run = await verificationOf(data, workspace);
  const { findings, ...result } = await verifySource(source, run, loadKeys(dataDir).ledgerKey);
  const wrong = findings.map(({ problem, output, id, field, eventId }) =>
    [problem, field, output, id, 'of', eventId].filter((word) => word !== null).join(' '),
  );
  return { ...result, wrong };
}

/** Returns what a verification of the whole log finds wrong in an open data folder, a text for each output. */
export const findWrongOutputs = async (
  dataDir: string,
  data: VerifiedData,
  workspace?: string,
): Promise<readonly string[]> => (await verifyWhole(dataDir, data, workspace === undefined ? {} : { workspace })).wrong;
