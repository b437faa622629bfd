import type { DeliveryState, Slot } from '@carillon/domain/deliveries';
import type { Duration, Instant } from '@carillon/kernel';

const MINUTE: Duration = 60_000;
const DAY: Duration = 1440 * MINUTE;
/**
 * Lengths of pieces. Two days have at most 2,881 short pieces, 92 days at most 2,209 long ones. After a move of a delivery the next response reads one
 * piece of each length again.
 */
const [SHORT, LONG]: readonly [Duration, Duration] = [MINUTE, 60 * MINUTE];
const SHORT_UNTIL: Duration = 2 * DAY;
const MAX_BYTES = 64 * 1024 * 1024;
/** Estimated bytes of an array and of a name besides their content. */
const [ARRAY, NAME] = [200, 80];

/** A stretch of time that is counted by itself. */
export type Piece = {
  readonly from: Instant;
  readonly until: Instant;
  /** Key of the stored sums. Null if the span begins or ends within the piece, which is then counted each time. */
  readonly place: string | null;
};

/** Deliveries of a piece by notification, each an array in the order of DELIVERY_STATES. */
export type Counts = ReadonlyMap<string, Uint32Array>;
type Sums = { counts: Counts | null; readonly people: Map<DeliveryState, Uint32Array>; bytes: number };

/** Decides in which pieces a delivery is counted. */
export type CountedDelivery = { readonly slot: Pick<Slot, 'workspace'>; readonly createdAt: Instant };

const placeOf = (workspace: string, at: Instant, length: Duration): string =>
  `${length} ${Math.floor(at / length)} ${workspace}`;

/** Returns the length of the pieces in which a span is counted. */
export const pieceLength = (span: Duration): Duration => (span <= SHORT_UNTIL ? SHORT : LONG);

/** Splits a time span into pieces aligned to multiples of `length`. The first and the last piece may be shorter. */
export function piecesOf(workspace: string, since: Instant, before: Instant, length: Duration): readonly Piece[] {
  const pieces: Piece[] = [];
  for (let from = since; from < before;) {
    const start = Math.floor(from / length) * length;
    const until = Math.min(start + length, before);
    const isWhole = from === start && until === start + length;
    pieces.push({ from, until, place: isWhole ? placeOf(workspace, start, length) : null });
    from = until;
  }
  return pieces;
}

/**
 * Sums by key, with a number for each person in them. `isWritten`: rows of a piece are being written. Above `mostBytes`
 * no further sums are stored, except for the names of the current request.
 */
function createSums(isWritten: (place: string) => boolean, mostBytes: number) {
  const sums = new Map<string, Sums>();
  const numbers = new Map<string, number>();
  let bytes = 0;

  function keep({ place }: Piece, size: number, put: (into: Sums) => void): void {
    if (place === null || isWritten(place) || bytes > mostBytes) return;
    const into = sums.get(place) ?? { counts: null, people: new Map(), bytes: 0 };
    put(into);
    into.bytes += size;
    bytes += size;
    sums.set(place, into);
  }

  return {
    bytes: () => bytes,
    /** Returns the sums of a piece. Undefined if none are stored. */
    of: ({ place }: Piece): Readonly<Sums> | undefined => (place === null ? undefined : sums.get(place)),
    keepCounts(piece: Piece, counts: Counts): void {
      let size = ARRAY;
      for (const states of counts.values()) size += states.byteLength + ARRAY;
      keep(piece, size, (into) => (into.counts = counts));
    },
    keepPeople(piece: Piece, state: DeliveryState, people: Uint32Array): void {
      keep(piece, people.byteLength + ARRAY, (into) => into.people.set(state, people));
    },
    /** Returns the number of a person, from 0. It stays the same as long as these sums are used. */
    numberOf: (person: string): number => {
      const known = numbers.get(person);
      if (known !== undefined) return known;
      bytes += person.length + NAME;
      numbers.set(person, numbers.size);
      return numbers.size - 1;
    },
    numbered: () => numbers.size,
    forget(place: string): void {
      bytes -= sums.get(place)?.bytes ?? 0;
      sums.delete(place);
    },
  };
}

/**
 * Cache of ledger sums per time bucket. A sum is dropped before a row of its bucket is written. All writes go through
 * here and the data file has one process, so a cached sum equals its rows. While a write runs, its bucket is not
 * cached.
 */
export function createKeptSums(mostBytes = MAX_BYTES) {
  const written = new Map<string, number>();
  const isWritten = (place: string): boolean => written.has(place);
  let kept = createSums(isWritten, mostBytes);

  return {
    /** Runs a write of deliveries. From its start until it has succeeded or failed, no sum of their pieces is stored. */
    async writing<Done>(deliveries: readonly CountedDelivery[], write: () => Promise<Done>): Promise<Done> {
      const places = new Set<string>();
      for (const { slot, createdAt } of deliveries) {
        for (const length of [SHORT, LONG]) places.add(placeOf(slot.workspace, createdAt, length));
      }
      for (const place of places) {
        written.set(place, (written.get(place) ?? 0) + 1);
        kept.forget(place);
      }
      try {
        return await write();
      } finally {
        for (const place of places) {
          const left = (written.get(place) ?? 1) - 1;
          if (left === 0) written.delete(place);
          else written.set(place, left);
        }
      }
    },
    /**
     * Returns the cached sums for one response. If the cache is too large, it is replaced here rather than during a
     * count, because the number of a person must stay the same within a response. A running response continues with its
     * own sums.
     */
    sums() {
      if (kept.bytes() > mostBytes) kept = createSums(isWritten, mostBytes);
      return kept;
    },
  };
}
export type KeptSums = ReturnType<typeof createKeptSums>;
