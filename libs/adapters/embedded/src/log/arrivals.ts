/** Tells those who wait at the end of a partition that records came. */
export type Arrivals = {
  announce(topic: string, partition: number): void;
  /** Resolves at the next announcement, when `signal` ends, or after `atMost` milliseconds: the net under a missed one. */
  next(topic: string, partition: number, atMost: number, signal: AbortSignal): Promise<void>;
};

export function createArrivals(): Arrivals {
  const waiting = new Map<string, Set<() => void>>();
  return {
    announce(topic, partition) {
      const place = `${topic}/${partition}`;
      const callers = waiting.get(place);
      if (!callers) return;
      waiting.delete(place);
      for (const wake of callers) wake();
    },
    next(topic, partition, atMost, signal) {
      const place = `${topic}/${partition}`;
      return new Promise((resolve) => {
        if (signal.aborted) return resolve();
        const callers = waiting.get(place) ?? new Set();
        waiting.set(place, callers);
        const wake = (): void => {
          clearTimeout(timer);
          signal.removeEventListener('abort', wake);
          callers.delete(wake);
          resolve();
        };
        const timer = setTimeout(wake, atMost);
        signal.addEventListener('abort', wake);
        callers.add(wake);
      });
    },
  };
}
