import { closeSync, copyFileSync, existsSync, fstatSync, openSync, readSync, rmSync, truncateSync } from 'node:fs';
import { CarillonError } from '@carillon/kernel';
import {
  FRAME_HEADER_BYTES,
  INDEX_BYTES,
  judgeEmptyWal,
  judgeWal,
  pageBytesOf,
  readIndex,
  WAL_HEADER_BYTES,
  type WalIndex,
  type WalVerdict,
} from './wal-frames.ts';

/** Of our own files, where a header does not say. */
const PAGE_BYTES = 4096;
const FRAMES_AT_ONCE = 256;

type Damage = Extract<WalVerdict, { readonly kind: 'damaged' }>;

/** The log beside a data file that no process has open. Reads it once, in pieces; changes nothing. */
export function lookAtWal(database: string): WalVerdict {
  const index = indexBeside(database);
  const wal = `${database}-wal`;
  if (!existsSync(wal)) return judgeEmptyWal(index);
  const file = openSync(wal, 'r');
  try {
    const header = readAt(file, 0, WAL_HEADER_BYTES);
    if (header.length < WAL_HEADER_BYTES) return judgeEmptyWal(index);
    const pageBytes = pageBytesOf(header) ?? PAGE_BYTES;
    const frameBytes = FRAME_HEADER_BYTES + pageBytes;
    if (fstatSync(file).size < WAL_HEADER_BYTES + frameBytes) return judgeEmptyWal(index);
    return judgeWal(header, framesIn(file, frameBytes), index, pageBytes);
  } finally {
    closeSync(file);
  }
}

/** Throws `data_damaged` where SQLite would drop commits of the log without a word. */
export function refuseDamagedWal(dataDir: string, database: string): void {
  const verdict = lookAtWal(database);
  if (verdict.kind === 'whole') return;
  throw new CarillonError(
    'data_damaged',
    `${inWords(database, verdict)}. Nothing was started and nothing was changed. Restore a backup into a new folder ` +
      `(npx carillon restore FILE --data-dir NEW), or decide to go on without what stands behind the damage: ` +
      `npx carillon mend --drop-damaged --data-dir ${dataDir}`,
  );
}

export const inWords = (database: string, { at, commitsBehind }: Damage): string =>
  `${database}-wal, the write-ahead log, is damaged at byte ${at}: ` +
  (commitsBehind === null
    ? 'writes that were acknowledged are missing from its end'
    : `${commitsBehind} ${commitsBehind === 1 ? 'write stands' : 'writes stand'} behind that place and would be dropped, and they may have been acknowledged`);

/**
 * Cuts the log where the damage begins, so that SQLite goes on with the last commit before it, and answers the name under which the log is
 * kept as it was; null where there was none.
 */
export function dropDamaged(database: string, { committed }: Damage, stamp: string): string | null {
  const wal = `${database}-wal`;
  const kept = existsSync(wal) ? `${wal}.damaged-${stamp}` : null;
  if (kept !== null) {
    copyFileSync(wal, kept);
    if (committed === 0) rmSync(wal);
    else truncateSync(wal, WAL_HEADER_BYTES + committed * (FRAME_HEADER_BYTES + pageBytesIn(wal)));
  }
  // It tells of more than there is now. SQLite makes it again from the log.
  rmSync(`${database}-shm`, { force: true });
  return kept;
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
    const piece = readAt(file, position, frameBytes * FRAMES_AT_ONCE);
    for (let at = 0; at + frameBytes <= piece.length; at += frameBytes) yield piece.subarray(at, at + frameBytes);
    if (piece.length < frameBytes * FRAMES_AT_ONCE) return;
    position += piece.length;
  }
}
