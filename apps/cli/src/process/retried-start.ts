import { CarillonError, isCarillonError, messageOf, type Duration } from '@carillon/kernel';
import { pause, type Log } from '@carillon/runtime';
import { serveNotStarted, type ListeningPlace, type NotStarted } from './not-started.ts';
import type { ProcessContext, ProcessSettings } from './settings.ts';

const AGAIN_AFTER: Duration = 3_000;

export type RetriedStart<Running> = {
  /** A role, or `carillon` for all of them. */
  readonly role: string;
  readonly places: (settings: ProcessSettings) => readonly ListeningPlace[];
  /** Reads the settings again for each attempt, because missing files may exist by then. */
  readonly find: () => ProcessContext;
  /** Makes one attempt to start. It must call `listens` before it listens on a port. */
  readonly start: (context: ProcessContext, listens: () => Promise<void>) => Promise<Running>;
  /** Resolves when somebody asks for the end. */
  readonly asked: Promise<void>;
  readonly warn: Log;
};

/**
 * Retries a failing start for the configured time, because a process manager would restart it immediately anyway.
 * Meanwhile health reports the reason, and each reason is logged once. Rejects with the last error.
 */
export async function startWithRetries<Running>(wish: RetriedStart<Running>): Promise<Running> {
  const { role, places, find, start, asked, warn } = wish;
  const began = performance.now();
  const end = new AbortController();
  void asked.then(() => end.abort());
  const said = new Set<string>();
  let shown: NotStarted | null = null;
  for (;;) {
    const context = find();
    const left = (): number => context.settings.startTimeout - (performance.now() - began);
    try {
      if (context.faults.length > 0) throw new CarillonError('wrong_usage', context.faults.join('\n'));
      return await start(context, async () => {
        await shown?.close();
        shown = null;
      });
    } catch (error) {
      if (left() <= 0 || end.signal.aborted) {
        await shown?.close();
        throw error;
      }
      const why = isCarillonError(error) ? error.detail : messageOf(error);
      shown ??= await serveNotStarted(places(context.settings), context.settings);
      shown.because(why);
      const reason = reasonOf(why);
      if (!said.has(reason)) {
        const facts = { role, code: isCarillonError(error) ? error.code : 'failed', detail: why };
        warn({ ...facts, retry_ms: AGAIN_AFTER }, 'not started; startup is retried, and health shows the reason');
      }
      said.add(reason);
    }
    await pause(Math.min(AGAIN_AFTER, Math.max(0, left())), end.signal);
  }
}

/** Details that only differ in numbers, such as a time or port, are the same reason. */
const reasonOf = (detail: string): string => detail.replaceAll(/\d+/g, '0');
