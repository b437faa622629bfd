import { statfs } from 'node:fs/promises';
import {
  intakeUntil,
  openEmbedded,
  WAL_BOUNDS,
  type Embedded,
  type EmbeddedStats,
  type PageState,
} from '@carillon/adapter-embedded';
import { withNamedRetention } from '@carillon/contracts';
import { checkSteps, type Check } from '@carillon/control';
import { formatInstant, isCarillonError, messageOf } from '@carillon/kernel';
import { COLLECTIONS, createSourceStore, createStores, removeExpired } from '@carillon/stores';
import type { ReadinessCheck } from '@carillon/runtime';
import { CommandError } from '../failure.ts';
import { readUnreadOffsets } from './log-positions.ts';
import { folderRetentionCheck } from './retention-checks.ts';
import type { Backend, BackendOptions } from './backend.ts';

/** Opens the data folder of this machine, for this process alone. */
export async function openEmbeddedBackend(options: BackendOptions): Promise<Backend> {
  const { settings, clock, holder, slice, migrating } = options;
  const { dataDir } = settings;
  const data = await openFolder(dataDir, () =>
    openEmbedded({
      dataDir,
      clock,
      holder,
      collections: COLLECTIONS,
      ...(slice && { slice }),
      ...(migrating && { migrating }),
    }),
  );
  return {
    ...data,
    ...createStores(data.documents),
    sources: createSourceStore(data.documents, data.writeWithRecords),
    kind: 'embedded',
    place: `embedded, data in ${dataDir}`,
    alone: true,
    erasedRecords: null,
    readiness: () => [fileReadiness(data)],
    checks: (retention) =>
      checkSteps('data file', async () => [
        ...(await diskChecks(dataDir, data)),
        folderRetentionCheck(data.defaultRetention, retention),
      ]),
    // A process that has the folder open keeps others from opening it.
    refuseRunningRoles: () => Promise.resolve(),
    backup: (file) => data.backup(file),
    async applyRetention(now, retention) {
      const topics = withNamedRetention(retention, data.defaultRetention);
      await data.applyRetention(now, { topics, unreadFrom: await readUnreadOffsets(data) });
      await removeExpired(data.documents, now);
    },
    close: () => data.close(),
  };
}

/** Adds the folder, and the setting that names another folder, to errors of the file system. */
async function openFolder(dataDir: string, open: () => Promise<Embedded>): Promise<Embedded> {
  try {
    return await open();
  } catch (error) {
    if (isCarillonError(error)) throw error;
    throw new CommandError(
      `cannot use the data folder ${dataDir} (--data-dir, CARILLON_DATA_DIR): ${messageOf(error)}${ownerFix(dataDir, error)}`,
    );
  }
}

/** A folder or volume that was made by root is not for the user who runs this. */
function ownerFix(dataDir: string, error: unknown): string {
  const refused = error instanceof Error && 'code' in error && (error.code === 'EACCES' || error.code === 'EPERM');
  const user = `${process.getuid?.() ?? ''}:${process.getgid?.() ?? ''}`;
  return refused && user !== ':' ? `; give it to the user who runs this: chown ${user} ${dataDir}` : '';
}

/** The check of `/readyz` that says whether the data file takes what is written. */
export const DATA_FILE = 'data file';

/**
 * Not ready while writes fail, because the disk is full or the file damaged. An idle process writes little, so each
 * check also probes whether writes work again.
 */
export function fileReadiness(data: Pick<Embedded, 'health' | 'probe'>): ReadinessCheck {
  const { damaged, failing, pages } = data.health();
  if (failing !== null && damaged === null) void data.probe();
  const looking =
    pages.kind === 'being looked at' ? `, its pages are being looked at since ${formatInstant(pages.since)}` : '';
  const why = damaged ?? failing;
  return { name: DATA_FILE, ok: why === null, detail: why ?? `takes what is written${looking}` };
}

const MIB = 1024 * 1024;
const mib = (bytes: number): string => `${Math.ceil(bytes / MIB)} MiB`;
/** A log of this length is none that is copied in time: something holds it. */
const HELD_LOG = 256 * MIB;

export function fileCheck(
  dataDir: string,
  { fileBytes, walBytes, walLeft, notCopied }: Pick<EmbeddedStats, 'fileBytes' | 'walBytes' | 'walLeft' | 'notCopied'>,
): Check {
  const said = `${mib(fileBytes)}, write-ahead log ${mib(walBytes)}, in ${dataDir}`;
  const step = 'data file';
  if (walLeft < HELD_LOG) return { step, ok: true, detail: said };
  const why =
    notCopied ??
    'something reads an old state: a backup, a look at its pages, or another program that has carillon.db open';
  const end = `from ${mib(intakeUntil(WAL_BOUNDS))} of log on events are refused until that has ended, and from ${mib(WAL_BOUNDS.most)} on all writes`;
  return { step, ok: false, detail: `${said}. The file lacks ${mib(walLeft)} of the log (${why}); ${end}` };
}

/** Less free disk than this is worth a word. */
const LEAST_FREE = 512 * MIB;

/**
 * Time limit of the check, below that of a doctor step. A larger file is checked further, and the next call returns the
 * result.
 */
const PAGE_CHECK_TIMEOUT_MS = 3_000;

function pageCheck(pages: PageState): Check {
  const step = 'data pages';
  if (pages.kind === 'damaged') {
    return {
      step,
      ok: false,
      detail: `damaged: ${pages.damages.join('; ')}. Restore a backup: npx carillon restore FILE --data-dir NEW`,
    };
  }
  if (pages.kind === 'not seen') return { step, ok: false, detail: `the data file could not be checked: ${pages.why}` };
  if (pages.kind === 'whole') return { step, ok: true, detail: 'whole' };
  return { step, ok: true, detail: 'the check of the data file is still running: run the command again' };
}

async function diskChecks(dataDir: string, data: Embedded): Promise<Check[]> {
  const [disk, pages] = await Promise.all([statfs(dataDir), data.lookAtPages(PAGE_CHECK_TIMEOUT_MS)]);
  const free = disk.bavail * disk.bsize;
  return [
    fileCheck(dataDir, data.stats()),
    pageCheck(pages),
    { step: 'free disk', ok: free >= LEAST_FREE, detail: `${mib(free)} free` },
  ];
}
