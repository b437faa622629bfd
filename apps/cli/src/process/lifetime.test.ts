import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { serveUntilAsked } from './lifetime.ts';

const SIGNALS = ['SIGINT', 'SIGTERM'] as const;
const before = new Map(SIGNALS.map((signal) => [signal, process.listeners(signal)]));

beforeEach(() => void vi.useFakeTimers());
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
  // A process ends after it; this one runs other files, and would end with the first signal that one of them gives itself.
  for (const signal of SIGNALS) {
    for (const listener of process.listeners(signal)) {
      if (before.get(signal)?.includes(listener) !== true) process.off(signal, listener);
    }
  }
});

it('a process ends within 15 s of SIGTERM, even if a part of it never closes', async () => {
  const exit = vi.spyOn(process, 'exit').mockReturnValue(undefined as never);
  const told = Promise.withResolvers<void>();
  void serveUntilAsked(
    false,
    async () => ({ close: () => new Promise<void>(() => undefined) }),
    () => told.resolve(),
  );
  await told.promise;
  process.emit('SIGTERM');
  await vi.advanceTimersByTimeAsync(10_000);
  expect(exit).not.toHaveBeenCalled();
  await vi.advanceTimersByTimeAsync(5_000);
  await vi.waitFor(() => expect(exit).toHaveBeenCalledWith(0), 60_000);
});
