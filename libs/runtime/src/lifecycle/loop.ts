import type { Duration } from '@carillon/kernel';

export type Loop = {
  /** Runs as soon as it can, instead of at the end of the pause. */
  nudge(): void;
  /** Resolves when the round under way is over; no further one begins. */
  stop(): Promise<void>;
};

/**
 * Repeats a round for ever, with a pause after each. A round that throws is reported and the loop goes on: housekeeping
 * must outlive a store that is away for a minute. A round may answer how long to pause instead.
 */
export function startLoop(
  pause: Duration,
  round: () => Promise<Duration | void>,
  failed: (error: unknown) => void,
): Loop {
  let stopped = false;
  let wake: () => void = () => undefined;
  let nudged = false;

  async function wait(span: Duration): Promise<void> {
    if (nudged || stopped) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, span);
      wake = () => {
        clearTimeout(timer);
        resolve();
      };
    });
  }

  async function run(): Promise<void> {
    while (!stopped) {
      nudged = false;
      let next: Duration | void = undefined;
      try {
        next = await round();
      } catch (error) {
        failed(error);
      }
      await wait(next ?? pause);
    }
  }
  const running = run();

  return {
    nudge() {
      nudged = true;
      wake();
    },
    async stop() {
      stopped = true;
      wake();
      await running;
    },
  };
}

/** Resolves after a span, or at once when the signal ends. Never rejects. */
export const pause = (span: Duration, signal?: AbortSignal): Promise<void> =>
  new Promise((resolve) => {
    if (signal?.aborted) return resolve();
    const end = (): void => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', end);
      resolve();
    };
    const timer = setTimeout(end, span);
    signal?.addEventListener('abort', end, { once: true });
    return undefined;
  });
