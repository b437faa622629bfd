import type { HttpLog, HttpLogFacts } from './http-log.ts';

/** Time in milliseconds over which refusals of one kind are counted into one line. */
const WINDOW_MS = 1000;

/**
 * Tells refusals that have no cause beneath them, of which one says what all say: the first of a kind at once, and those after
 * it once a second in one line, with the facts of the last and how many they were. A line for each was a tenth of what a
 * flood cost.
 */
export type RefusalLog = {
  tell(facts: HttpLogFacts, message: string): void;
  /** Tells at once what is counted, and ends its timers. */
  flush(): void;
};

/** Refusals of one kind since the last line about them. */
type Sum = { count: number; last: HttpLogFacts; message: string; timer: NodeJS.Timeout };

export function createRefusalLog(log: HttpLog): RefusalLog {
  // Sums by method, route and code, of which there are few.
  const sums = new Map<string, Sum>();

  function tellSum({ count, last, message }: Sum): void {
    if (count > 0) log.warn({ ...last, count }, message);
  }
  function end(kind: string, sum: Sum): void {
    tellSum(sum);
    if (sum.count === 0) {
      clearInterval(sum.timer);
      sums.delete(kind);
    }
    sum.count = 0;
  }

  return {
    tell(facts, message) {
      const kind = `${facts.method} ${facts.route} ${facts.code}`;
      const sum = sums.get(kind);
      if (sum) {
        sum.count += 1;
        sum.last = facts;
        return;
      }
      log.warn(facts, message);
      const timer = setInterval(() => end(kind, begun), WINDOW_MS).unref();
      const begun: Sum = { count: 0, last: facts, message, timer };
      sums.set(kind, begun);
    },
    flush() {
      for (const sum of sums.values()) {
        clearInterval(sum.timer);
        tellSum(sum);
      }
      sums.clear();
    },
  };
}
