/**
 * Reads a write-ahead log of SQLite as its format says (sqlite.org/fileformat2.html, section 4), without SQLite: that takes
 * the first frame that does not fit for the end of the log, and drops all behind it without a word.
 */

export const WAL_HEADER_BYTES = 32;
export const FRAME_HEADER_BYTES = 24;
/**
 * What is read of the index beside the log (`-shm`): two copies of its header, and how much of the log is in the data
 * file already, or may be.
 */
export const INDEX_BYTES = 132;
const INDEX_HEADER_BYTES = 48;
const ATTEMPTED_AT = 128;

const MAGIC = 0x377f0682;

type Checksum = readonly [number, number];
const NOTHING: Checksum = [0, 0];

/** The log's index. It survives a kill and tells how much was committed. */
export type WalIndex = {
  readonly salts: Uint8Array;
  /** Up to the last commit. */
  readonly frames: number;
  /** How many of these frames stand in the data file as well. */
  readonly copied: number;
  /** How many may stand there: those of an interrupted copying too, and all that a restart found in the log. */
  readonly attempted: number;
};

/** What `mend` can do about a damaged log. */
export type WalRemedy =
  /** The data file is older than the damage, as far as anyone can tell: the log is cut there, and what stood behind is lost. */
  | 'cut'
  /** The data file has all of the log: without the log nothing is lost, and with it SQLite would lay old pages over newer ones. */
  | 'put aside'
  /** The data file has some pages that are newer than the damage, and not all: with or without the log it is of two times. */
  | 'restore';

export type WalVerdict =
  /** Every frame fits, or what follows the last commit is what a writer leaves that was interrupted. */
  | { readonly kind: 'whole'; readonly committed: number }
  /** Commits stand behind a place that does not fit, or are gone from the end. */
  | {
      readonly kind: 'damaged';
      /** Frames up to the last commit before the damage: SQLite would go on with these. */
      readonly committed: number;
      /** In bytes from the beginning of the file. */
      readonly at: number;
      /** Commits after the damage that can still be read. Null if the end is lost, so that they cannot be counted. */
      readonly commitsBehind: number | null;
      readonly remedy: WalRemedy;
    };

const view = (bytes: Uint8Array): DataView => new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
const equal = (one: Uint8Array, other: Uint8Array): boolean =>
  one.length === other.length && one.every((byte, at) => byte === other[at]);
const same = (one: Checksum, other: Checksum): boolean => one[0] === other[0] && one[1] === other[1];

/** Continues SQLite's checksum of the preceding bytes, over pairs of 32-bit words. */
export function checksum(bytes: Uint8Array, littleEndian: boolean, seed: Checksum = NOTHING): Checksum {
  let [first, second] = seed;
  const words = view(bytes);
  for (let at = 0; at + 8 <= bytes.length; at += 8) {
    first = (first + words.getUint32(at, littleEndian) + second) | 0;
    second = (second + words.getUint32(at + 4, littleEndian) + first) | 0;
  }
  return [first >>> 0, second >>> 0];
}

const storedAt = (bytes: Uint8Array, at: number): Checksum => [
  view(bytes).getUint32(at),
  view(bytes).getUint32(at + 4),
];

/** Null where the index is of another form, or was not written whole: it is no witness then. */
export function readIndex(bytes: Uint8Array): WalIndex | null {
  if (bytes.length < INDEX_BYTES) return null;
  const header = bytes.subarray(0, INDEX_HEADER_BYTES);
  if (!equal(header, bytes.subarray(INDEX_HEADER_BYTES, 2 * INDEX_HEADER_BYTES))) return null;
  const fields = view(header);
  // In the order of bytes of the machine that wrote it. All that we run on have this one.
  const stored: Checksum = [fields.getUint32(40, true), fields.getUint32(44, true)];
  if (!same(checksum(header.subarray(0, 40), true), stored)) return null;
  const copied = view(bytes).getUint32(2 * INDEX_HEADER_BYTES, true);
  const attempted = Math.max(copied, view(bytes).getUint32(ATTEMPTED_AT, true));
  return { salts: header.slice(32, 40), frames: fields.getUint32(16, true), copied, attempted };
}

/**
 * Returns the page size in bytes from the header of the write-ahead log, or null if the value is no valid page size.
 */
export function pageBytesOf(header: Uint8Array): number | null {
  const size = view(header).getUint32(8);
  return size >= 512 && size <= 65_536 && (size & (size - 1)) === 0 ? size : null;
}

/** Judges a missing or empty log: no loss unless the index names frames that exist only there. */
export const inspectEmptyWal = (index: WalIndex | null): WalVerdict =>
  index !== null && index.copied < index.frames
    ? { kind: 'damaged', committed: 0, at: 0, commitsBehind: null, remedy: index.attempted > 0 ? 'restore' : 'cut' }
    : { kind: 'whole', committed: 0 };

/**
 * Checks a write-ahead log for damage. `frames` are the complete frames of the file in order; a partial frame at the
 * end is ignored. Remains of an interrupted writer are no damage: a frame cut short, frames of a transaction without
 * its commit, frames of an earlier round of the log (other salts), or frames of a transaction that was rolled back. No
 * later frame ever builds on these.
 */
export function inspectWal(
  header: Uint8Array,
  frames: Iterable<Uint8Array>,
  index: WalIndex | null,
  pageBytes: number,
): WalVerdict {
  const magic = view(header).getUint32(0);
  const littleEndian = magic !== MAGIC + 1;
  const headerSum = checksum(header.subarray(0, 24), littleEndian);
  const headerFits = (magic === MAGIC || magic === MAGIC + 1) && same(headerSum, storedAt(header, 24));
  let salts: Uint8Array | null = headerFits ? header.subarray(16, 24) : null;
  /** Checksums that the next frame may go on from: where one does not fit, what it says and what it should have said. */
  let seeds: readonly Checksum[] = headerFits ? [headerSum] : [headerSum, storedAt(header, 24)];
  let count = 0;
  let fitting = 0;
  let committed = 0;
  let fits = headerFits;
  let afterCommit = false;
  /** Behind what does not fit: commits, and whether a frame goes on from one. */
  let commitsBehind = 0;
  let lastCommit = 0;
  let wentOn = false;

  for (const frame of frames) {
    salts ??= frame.slice(8, 16);
    const stored = storedAt(frame, 16);
    const ofThisRound = equal(frame.subarray(8, 16), salts);
    const isCommit = view(frame).getUint32(4) !== 0;
    const content = (seed: Checksum): Checksum =>
      checksum(frame.subarray(FRAME_HEADER_BYTES), littleEndian, checksum(frame.subarray(0, 8), littleEndian, seed));
    const sums = seeds.map(content);
    const goesOn = ofThisRound && view(frame).getUint32(0) !== 0 && sums.some((sum) => same(sum, stored));
    count += 1;
    if (fits && goesOn) {
      fitting = count;
      if (isCommit) committed = lastCommit = count;
    } else if (goesOn) {
      if (isCommit) {
        commitsBehind += 1;
        lastCommit = count;
      }
      if (afterCommit || (count === 1 && !headerFits)) wentOn = true;
    }
    if (!goesOn) fits = false;
    // The flag of a commit may be what is damaged: a frame that goes on from this one shows that its own checksum is right.
    afterCommit = isCommit;
    seeds = goesOn || same(sums[0] ?? NOTHING, stored) ? [stored] : [stored, ...sums.slice(0, 1)];
  }

  const frameBytes = FRAME_HEADER_BYTES + pageBytes;
  const at = headerFits ? WAL_HEADER_BYTES + fitting * frameBytes : 0;
  const witness = index !== null && salts !== null && equal(index.salts, salts) ? index : null;
  if (witness !== null) {
    if (witness.frames > committed) {
      // SQLite does not ask the index after a kill: it lays the frames before the damage over the data file, which may be newer.
      const fileHasAll = witness.copied >= witness.frames && witness.frames >= lastCommit;
      const ofTwoTimes = witness.attempted > committed;
      const remedy = fileHasAll ? 'put aside' : ofTwoTimes ? 'restore' : 'cut';
      return { kind: 'damaged', committed, at, commitsBehind: commitsBehind > 0 ? commitsBehind : null, remedy };
    }
  }
  // An index that ends where the log fits is that of a process that was killed there: nothing behind was acknowledged.
  const wasKilledThere = witness?.frames === committed;
  if (wentOn || (commitsBehind > 0 && !wasKilledThere))
    return { kind: 'damaged', committed, at, commitsBehind, remedy: 'cut' };
  return { kind: 'whole', committed };
}
