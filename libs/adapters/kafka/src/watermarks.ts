import { CarillonError } from '@carillon/kernel';

/**
 * The highest end of each partition that this process has seen. A partition never becomes shorter; one that does was
 * deleted and made again, or lost what it had confirmed. Then nothing may go on as if positions still meant the same.
 */
export type Watermarks = {
  end(place: string): number;
  /** A record up to here was confirmed or read. */
  saw(place: string, end: number): void;
  /** The error to throw when a broker answers as if the partition ended at `found`. Told to the process as well. */
  receded(place: string, found: number): CarillonError;
};

export function createWatermarks(fatal: (error: CarillonError) => void): Watermarks {
  const ends = new Map<string, number>();
  return {
    end: (place) => ends.get(place) ?? 0,
    saw(place, end) {
      if (end > (ends.get(place) ?? 0)) ends.set(place, end);
    },
    receded(place, found) {
      const error = new CarillonError(
        'wrong_log',
        `${place} held records up to ${(ends.get(place) ?? 0) - 1} and now ends at ${found}: the topic was deleted and ` +
          'created again, or a broker lost confirmed records. Stop all roles; restore the topic, or begin a new log',
      );
      fatal(error);
      return error;
    },
  };
}
