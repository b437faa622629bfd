import { once } from 'node:events';
import type { Worker } from 'node:worker_threads';
import { messageOf, type Duration } from '@carillon/kernel';
import { littleOf, type WalBounds } from './bounds.ts';
import type { WalState } from './wal.ts';

export type CopySettings = {
  readonly file: string;
  readonly busyTimeout: Duration;
  /** So much may be left, in bytes. */
  readonly little: number;
};

export type ToCopier = 'copy' | 'close';

/** `held`: somebody reads an old state, so that no more could be copied. */
export type Copied =
  | { readonly kind: 'done' }
  | { readonly kind: 'held' }
  | { readonly kind: 'failed'; readonly why: string; readonly damaged: boolean };

export type WalCopier = {
  /** Is told of the log after each commit. */
  grew(log: WalState): void;
  /** Null where the log may grow further; where it is long and is being copied, what ends with the copying. */
  room(): Promise<void> | null;
  /** After the next commit it is tried again, though the last time it got nowhere. */
  again(): void;
  /** The log after the last commit, how often it was copied, and why the last copying failed; null where it did not. */
  stats(): { readonly log: WalState; readonly copyings: number; readonly notCopied: string | null };
  /** Ends the thread. Safe to call twice. */
  close(): Promise<void>;
};

/** Messages between threads have no origin, whatever browsers know of that name. */
const post = (thread: Worker, message: ToCopier, transfer: readonly ArrayBuffer[] = []): void =>
  thread.postMessage(message, transfer);

/**
 * Keeps the write-ahead log short, by a thread of its own that is started when there is first something to copy. Nothing that was
 * committed depends on it: what it does not do, the next start or a clean stop does.
 */
export function createWalCopier(options: {
  readonly bounds: WalBounds;
  /** Starts a thread; called again when one died. */
  readonly start: () => Worker;
  /** Called if the data file is found to be damaged. */
  readonly found: (what: string) => void;
}): WalCopier {
  const { bounds } = options;
  let log: WalState = { bytes: 0, left: 0 };
  let thread: Worker | null = null;
  let underWay: Promise<void> | null = null;
  let settle: (copied: Copied) => void = () => undefined;
  /** Length of the log from which a copying that got nowhere is tried again. */
  let againFrom = 0;
  let copyings = 0;
  let notCopied: string | null = null;

  function launch(): Worker {
    const started = options.start();
    started.unref();
    let isGone = false;
    const gone = (why: string): void => {
      // A thread that failed ends after that too: by then the next one may be copying.
      if (isGone) return;
      isGone = true;
      if (thread === started) thread = null;
      settle({ kind: 'failed', why, damaged: false });
    };
    started.on('message', (copied: Copied) => settle(copied));
    started.on('error', (error: unknown) => gone(messageOf(error)));
    started.on('exit', () => gone('the thread that copies the write-ahead log ended'));
    return started;
  }

  async function ask(): Promise<Copied> {
    try {
      thread ??= launch();
      const answered = new Promise<Copied>((resolve) => (settle = resolve));
      post(thread, 'copy');
      return await answered;
    } catch (error) {
      return { kind: 'failed', why: messageOf(error), damaged: false };
    }
  }

  /** Never rejects: a thread that cannot be started is tried again once the log is longer. */
  async function copy(): Promise<void> {
    const copied = await ask();
    underWay = null;
    copyings += 1;
    notCopied = copied.kind === 'failed' ? copied.why : null;
    againFrom = copied.kind === 'done' ? 0 : log.bytes + littleOf(bounds);
    if (copied.kind === 'failed' && copied.damaged) options.found(copied.why);
  }

  return {
    grew(now) {
      // The log was restarted, so no reader blocks it any more.
      if (now.bytes < log.bytes) againFrom = 0;
      log = now;
      const from = log.bytes < bounds.waitFrom ? bounds.copyFrom : 1;
      if (underWay === null && log.left >= from && log.bytes >= againFrom) underWay = copy();
    },
    room: () => (log.bytes < bounds.waitFrom ? null : underWay),
    again() {
      againFrom = 0;
    },
    stats: () => ({ log, copyings, notCopied }),
    async close() {
      const last = thread;
      if (!last) return;
      thread = null;
      const ended = once(last, 'exit');
      last.ref();
      post(last, 'close');
      await ended;
    },
  };
}
