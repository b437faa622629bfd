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
  /** Where the data file is kept as it was before; null: nothing was done. */
  readonly fileKept: string | null;
};

const NOTHING_DONE = { logCanBeCut: false, nothingLost: false, dropped: null, kept: null, fileKept: null } as const;

/**
 * Looks at a data folder that no process works on: its write-ahead log, and all pages of its file. With `drop` a damaged log is
 * cut where the damage begins, for good, or put aside where the data file has all of it; both files are kept as they were. A log that
 * cannot be cut without mixing two times is left, and told as damage. Pages are never mended. Throws `data_locked` where a process has it.
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
