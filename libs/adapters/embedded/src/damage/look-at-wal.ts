import {
  closeSync,
  constants,
  copyFileSync,
  existsSync,
  fstatSync,
  openSync,
  readSync,
  renameSync,
  rmSync,
  truncateSync,
} from 'node:fs';
import { CarillonError } from '@carillon/kernel';
import {
  FRAME_HEADER_BYTES,
  INDEX_BYTES,
  inspectEmptyWal,
  inspectWal,
  pageBytesOf,
  readIndex,
  WAL_HEADER_BYTES,
  type WalIndex,
  type WalRemedy,
  type WalVerdict,
} from './wal-frames.ts';

/** The page size of our own files, for where a header does not say. */
const PAGE_BYTES = 4096;
const FRAME_BATCH_SIZE = 256;

type Damage = Extract<WalVerdict, { readonly kind: 'damaged' }>;

/** The log beside a data file that no process has open. Reads it once, in pieces; changes nothing. */
export function lookAtWal(database: string): WalVerdict {
  const index = indexBeside(database);
  const wal = `${database}-wal`;
  if (!existsSync(wal)) return inspectEmptyWal(index);
  const file = openSync(wal, 'r');
  try {
    const header = readAt(file, 0, WAL_HEADER_BYTES);
    if (header.length < WAL_HEADER_BYTES) return inspectEmptyWal(index);
    const pageBytes = pageBytesOf(header) ?? PAGE_BYTES;
    const frameBytes = FRAME_HEADER_BYTES + pageBytes;
    if (fstatSync(file).size < WAL_HEADER_BYTES + frameBytes) return inspectEmptyWal(index);
    return inspectWal(header, framesIn(file, frameBytes), index, pageBytes);
  } finally {
    closeSync(file);
  }
}

/** Throws `data_damaged` where SQLite would drop commits without a word: of the log, or of the data file that it lays the log over. */
export function refuseDamagedWal(dataDir: string, database: string): void {
  const verdict = lookAtWal(database);
  if (verdict.kind === 'whole') return;
  const restore = 'estore a backup into a new folder (npx carillon restore FILE --data-dir NEW)';
  const drop = `npx carillon mend --drop-damaged --data-dir ${dataDir}`;
  const ways: Record<WalRemedy, string> = {
    cut: `R${restore}, or continue without the writes after the damage: ${drop}`,
    'put aside': `Put the log aside: ${drop}`,
    restore: `R${restore}`,
  };
  throw new CarillonError(
    'data_damaged',
    `${inWords(database, verdict)}. Nothing was started and nothing was changed. ${ways[verdict.remedy]}`,
  );
}

export function inWords(database: string, { at, commitsBehind, remedy }: Damage): string {
  const place = `${database}-wal, the write-ahead log, is damaged at byte ${at}: `;
  if (remedy === 'put aside') return `${place}the data file has all of it, so nothing is lost without the log`;
  const lost =
    commitsBehind === null
      ? 'writes that were acknowledged are missing from its end'
      : `${commitsBehind} ${commitsBehind === 1 ? 'write' : 'writes'} after that place would be dropped, although clients may have got a 202 for them`;
  const mixed = '; the data file may have only a part of the writes after that place, so a backup has to be restored';
  return place + lost + (remedy === 'restore' ? mixed : '');
}

/** Names under which files are kept as they were. */
export type Kept = {
  /** Null where there was no log. */
  readonly log: string | null;
  readonly file: string;
};

/**
 * Cuts the log where the damage begins, so that SQLite goes on with the last commit before it; or puts all of it aside, where the data
 * file has all of it. Both files are kept as they were. Throws `data_damaged` where either would leave a file of two times.
 */
export function dropDamaged(database: string, damage: Damage, stamp: string): Kept {
  if (damage.remedy === 'restore') throw new CarillonError('data_damaged', inWords(database, damage));
  const { committed } = damage;
  const wal = `${database}-wal`;
  const file = `${database}.damaged-${stamp}`;
  // SQLite changes the data file as soon as it goes on.
  copyFileSync(database, file, constants.COPYFILE_FICLONE);
  const log = existsSync(wal) ? `${wal}.damaged-${stamp}` : null;
  if (log !== null) {
    if (damage.remedy === 'put aside' || committed === 0) renameSync(wal, log);
    else copyFileSync(wal, log);
    if (existsSync(wal)) truncateSync(wal, WAL_HEADER_BYTES + committed * (FRAME_HEADER_BYTES + pageBytesIn(wal)));
  }
  // The index describes more frames than exist now. SQLite rebuilds it from the log.
  rmSync(`${database}-shm`, { force: true });
  return { log, file };
}

function pageBytesIn(wal: string): number {
  const file = openSync(wal, 'r');
  try {
    return pageBytesOf(readAt(file, 0, WAL_HEADER_BYTES)) ?? PAGE_BYTES;
  } finally {
    closeSync(file);
  }
}

function indexBeside(database: string): WalIndex | null {
  const name = `${database}-shm`;
  if (!existsSync(name)) return null;
  const file = openSync(name, 'r');
  try {
    return readIndex(readAt(file, 0, INDEX_BYTES));
  } finally {
    closeSync(file);
  }
}

/** Fewer bytes where the file ends before. */
function readAt(file: number, position: number, bytes: number): Uint8Array {
  const buffer = new Uint8Array(bytes);
  let got = 0;
  while (got < bytes) {
    const more = readSync(file, buffer, got, bytes - got, position + got);
    if (more === 0) break;
    got += more;
  }
  return buffer.subarray(0, got);
}

function* framesIn(file: number, frameBytes: number): Iterable<Uint8Array> {
  for (let position = WAL_HEADER_BYTES; ;) {
    const piece = readAt(file, position, frameBytes * FRAME_BATCH_SIZE);
    for (let at = 0; at + frameBytes <= piece.length; at += frameBytes) yield piece.subarray(at, at + frameBytes);
    if (piece.length < frameBytes * FRAME_BATCH_SIZE) return;
    position += piece.length;
  }
}
