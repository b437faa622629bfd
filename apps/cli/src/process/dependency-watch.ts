import { isCarillonError, messageOf, type Duration } from '@carillon/kernel';
import type { Clock } from '@carillon/ports';
import { startLoop, type ReadinessCheck } from '@carillon/runtime';

/** How often something is asked whether it still answers, and how long its last answer counts. */
const ASK_EVERY: Duration = 2_000;
const COUNTS_FOR: Duration = 5_000;

export type DependencyWatch = { check(): ReadinessCheck; stop(): Promise<void> };

/** Asks something that this process depends on now and then, so that `/readyz` has an answer at hand. */
export function watchDependency(name: string, clock: Clock, ask: () => Promise<unknown>): DependencyWatch {
  let answeredAt = clock.now();
  let trouble: string | null = null;
  const loop = startLoop(
    ASK_EVERY,
    async () => {
      await ask();
      answeredAt = clock.now();
      trouble = null;
    },
    (error) => {
      trouble = isCarillonError(error) ? error.detail : messageOf(error);
    },
  );
  return {
    check() {
      const silence = clock.now() - answeredAt;
      // Whoever asks may have to wait long until it hears that nobody answers.
      const ok = trouble === null && silence <= COUNTS_FOR;
      return { name, ok, detail: ok ? 'answers' : (trouble ?? `no answer for ${Math.round(silence)} ms`) };
    },
    stop: () => loop.stop(),
  };
}
