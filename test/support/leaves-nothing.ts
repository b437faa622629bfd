import { afterAll, expect, vi } from 'vitest';

/* For the lanes whose files share processes: what one file leaves behind is met by the next. */

const HEARD = ['SIGINT', 'SIGTERM', 'SIGHUP', 'uncaughtException', 'unhandledRejection'] as const;
const heard = (): readonly string[] => HEARD.map((name) => `${name}: ${process.listenerCount(name)}`);

const before = heard();

// The last of all hooks of the file: those that are declared first come last.
afterAll(() => {
  const isFaked = vi.isFakeTimers();
  vi.useRealTimers();
  expect(isFaked, 'fake timers are left to the next file: call vi.useRealTimers() in afterEach').toBe(false);
  expect(heard(), 'the process listens to more than before this file: take its listeners off in afterEach').toEqual(
    before,
  );
});
