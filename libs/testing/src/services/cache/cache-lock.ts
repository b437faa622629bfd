import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import type { Say } from '../service.ts';

/**
 * Runs `work` while nobody else on this machine holds the lock of that file. The kernel releases it when its holder is
 * gone in any way, so there is no stale lock to clear away.
 */
export async function withLock<T>(file: string, say: Say, work: () => Promise<T>): Promise<T> {
  const holder = spawn('flock', ['--exclusive', file, '/bin/sh', '-c', 'echo held; exec cat >/dev/null'], {
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  // Where we are killed while it waits, its input ends at once, and so it does as soon as it has the lock.
  holder.stdin.on('error', () => undefined);
  const ended = once(holder, 'exit');
  ended.catch(() => undefined);
  const held = Promise.race([
    once(holder.stdout, 'data'),
    ended.then(() => Promise.reject(new Error(`cannot lock ${file}`))),
  ]);
  held.catch(() => undefined);
  const waiting = new AbortController();
  const notice = pause(1000, undefined, { signal: waiting.signal, ref: false }).then(
    () => say('another process fetches it; waiting for that'),
    () => undefined,
  );
  try {
    await held;
    waiting.abort();
    return await work();
  } finally {
    waiting.abort();
    await notice;
    holder.stdin.end();
    await ended.catch(() => undefined);
  }
}
