import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { serveUntilAsked } from './lifetime.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => {
  vi.useRealTimers();
  vi.restoreAllMocks();
});

it('a process that is asked to end does so within 15 s, also when a part of it never closes', async () => {
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
