import { isCarillonError, messageOf, type Duration } from '@carillon/kernel';
import type { Clock } from '@carillon/ports';
import { pause, startLoop, type ReadinessCheck } from '@carillon/runtime';

/** How often something is asked whether it still answers, and how long its last answer counts. */
const ASK_EVERY: Duration = 2_000;
const COUNTS_FOR: Duration = 5_000;
/** Half the timeout of callers. A query without a response is abandoned, so that the next one can succeed. */
const GIVEN_UP_AFTER: Duration = 30_000;

export type DependencyWatch = { check(): ReadinessCheck; stop(): Promise<void> };

/** Asks something that this process depends on now and then, so that `/readyz` has an answer at hand. */
export function watchDependency(name: string, clock: Clock, ask: () => Promise<unknown>): DependencyWatch {
  let answeredAt = clock.now();
  let trouble: string | null = null;
  let question = new AbortController();
  const loop = startLoop(
    ASK_EVERY,
    async () => {
      question = new AbortController();
      await answerTo(ask, question);
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
      // A failing query may take long to report that there is no response.
      const ok = trouble === null && silence <= COUNTS_FOR;
      return { name, ok, detail: ok ? 'answers' : (trouble ?? `no answer for ${Math.round(silence)} ms`) };
    },
    stop() {
      const stopped = loop.stop();
      // Nobody wants the answer any more, and a process has less time to stop than a question has.
      question.abort();
      return stopped;
    },
  };
}

/** Rejects where there is none for so long, or when the question is dropped: a process must not be unready for one lost question. */
async function answerTo(ask: () => Promise<unknown>, question: AbortController): Promise<void> {
  const lost = async (): Promise<never> => {
    await pause(GIVEN_UP_AFTER, question.signal);
    throw new Error(`no answer for ${GIVEN_UP_AFTER} ms`);
  };
  try {
    await Promise.race([ask(), lost()]);
  } finally {
    question.abort();
  }
}
