import { existsSync } from 'node:fs';
import { CarillonError, formatInstant, type Instant } from '@carillon/kernel';
import { dataFiles } from '../data-folder.ts';
import { lockFolder } from '../folder-lock.ts';
import { cutShort } from './look-at-file.ts';
import { lookAtPages } from './look-at-pages.ts';
import { dropDamaged, inWords, lookAtWal } from './look-at-wal.ts';

export type Mended = {
  /** Descriptions of the remaining damage. Carillon does not start over it. */
  readonly damages: readonly string[];
  /** Whether the write-ahead log is one of these, and could be cut or put aside: `mend` with `drop`. */
  readonly logCanBeCut: boolean;
  /** Whether the data file has all of the damaged log: then nothing is lost when that is put aside. */
  readonly nothingLost: boolean;
  /** Description of the log damage that was cut off or moved aside. Null if there was none. */
  readonly dropped: string | null;
  /** Where the log is kept as it was before it was cut. */
  readonly kept: string | null;
  /** Path of the copy of the data file before the change. Null if nothing was changed. */
  readonly fileKept: string | null;
};

const NOTHING_DONE = { logCanBeCut: false, nothingLost: false, dropped: null, kept: null, fileKept: null } as const;

/**
 * Inspects a data folder that no process uses: its write-ahead log, and all pages of its file. With `drop` a damaged
 * log is cut for good where the damage begins, or set aside if the data file contains all of it. Both files are copied
 * first. A log that cannot be cut without mixing two points in time is left, and reported as damage. Pages are never
 * repaired. Throws `data_locked` if a process uses the folder.
 */
export function mendFolder(dataDir: string, drop: boolean, now: Instant): Mended {
  const { database, keys } = dataFiles(dataDir);
  if (!existsSync(database)) throw new CarillonError('wrong_usage', `there is no carillon.db in ${dataDir}`);
  const missing = cutShort(database, keys);
  if (missing !== null) return { ...NOTHING_DONE, damages: [missing] };
  const lock = lockFolder(dataDir, 'carillon mend', now);
  let whole = false;
  try {
    const verdict = lookAtWal(database);
    const said = verdict.kind === 'damaged' ? inWords(database, verdict) : null;
    const remedy = verdict.kind === 'damaged' ? verdict.remedy : null;
    const nothingLost = remedy === 'put aside';
    // SQLite would drop the damaged part as soon as it opened the file.
    if (said !== null && (!drop || remedy === 'restore')) {
      return { ...NOTHING_DONE, damages: [said], logCanBeCut: remedy !== 'restore', nothingLost };
    }
    const stamp = formatInstant(now).replaceAll(/[^0-9TZ]/g, '');
    const kept = verdict.kind === 'damaged' ? dropDamaged(database, verdict, stamp) : null;
    const pages = lookAtPages(database);
    const damages = 'unseen' in pages ? [`the pages could not be looked at: ${pages.unseen}`] : pages.damages;
    whole = damages.length === 0;
    return {
      damages,
      logCanBeCut: false,
      nothingLost,
      dropped: said,
      kept: kept?.log ?? null,
      fileKept: kept?.file ?? null,
    };
  } finally {
    // What is damaged is looked at again by the next start.
    if (whole) lock.release();
    else lock.abandon();
  }
}
