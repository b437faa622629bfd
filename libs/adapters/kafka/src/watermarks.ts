import { CarillonError } from '@carillon/kernel';

/**
 * Highest end of each partition seen by this process. If a partition gets shorter, it was deleted and created again or
 * lost confirmed records, so positions are no longer valid.
 */
export type Watermarks = {
  end(place: string): number;
  /** A record up to here was confirmed or read. */
  saw(place: string, end: number): void;
  /** Returns the error for a partition that now ends at `found`, and reports it to the process. */
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
