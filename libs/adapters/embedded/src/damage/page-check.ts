import { setTimeout as elapsed } from 'node:timers/promises';
import type { Worker } from 'node:worker_threads';
import { messageOf, type Duration, type Instant } from '@carillon/kernel';
import type { Clock } from '@carillon/ports';
import type { PagesFound } from './look-at-pages.ts';

/** What is known of the pages of the data file. */
export type PageState =
  | { readonly kind: 'never looked at' }
  | { readonly kind: 'being looked at'; readonly since: Instant }
  | { readonly kind: 'whole'; readonly at: Instant }
  | { readonly kind: 'damaged'; readonly at: Instant; readonly damages: readonly string[] }
  | { readonly kind: 'not seen'; readonly at: Instant; readonly why: string };

export type PageCheck = {
  state(): PageState;
  /** Looks at all pages, or waits for a look that is under way; at most for `patience`, then it goes on by itself. */
  look(patience: Duration): Promise<PageState>;
  close(): Promise<void>;
};

/** `found` is told of damage, whenever that is known. */
export function createPageCheck(clock: Clock, start: () => Worker, found: (damages: string) => void): PageCheck {
  let state: PageState = { kind: 'never looked at' };
  let underWay: { readonly thread: Worker; readonly done: Promise<void> } | null = null;

  function begin(): { readonly thread: Worker; readonly done: Promise<void> } {
    state = { kind: 'being looked at', since: clock.now() };
    const thread = start();
    const done = new Promise<PagesFound>((resolve) => {
      thread.once('message', resolve);
      thread.once('error', (error: unknown) => resolve({ unseen: messageOf(error) }));
      thread.once('exit', () => resolve({ unseen: 'the thread that looks at it ended' }));
    }).then((pages) => {
      const at = clock.now();
      underWay = null;
      if ('unseen' in pages) state = { kind: 'not seen', at, why: pages.unseen };
      else if (pages.damages.length === 0) state = { kind: 'whole', at };
      else {
        state = { kind: 'damaged', at, damages: pages.damages };
        found(pages.damages.join('; '));
      }
    });
    return { thread, done };
  }

  return {
    state: () => state,
    async look(patience) {
      underWay ??= begin();
      const ended = new AbortController();
      const { signal } = ended;
      await Promise.race([underWay.done, elapsed(patience, undefined, { signal }).catch(() => undefined)]);
      ended.abort();
      return state;
    },
    async close() {
      await underWay?.thread.terminate();
    },
  };
}
