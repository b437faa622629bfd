import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { watchDependency } from './dependency-watch.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const clock = { now: () => Date.now() };
const seconds = (count: number): Promise<unknown> => vi.advanceTimersByTimeAsync(count * 1_000);

it('is ready while what it asks answers, says why not when it rejects, and is ready again', async () => {
  let away = false;
  const watch = watchDependency('database', clock, () =>
    away ? Promise.reject(new Error('away')) : Promise.resolve(),
  );
  await seconds(3);
  expect(watch.check()).toEqual({ name: 'database', ok: true, detail: 'answers' });
  away = true;
  await seconds(3);
  expect(watch.check()).toEqual({ name: 'database', ok: false, detail: 'away' });
  away = false;
  await seconds(3);
  expect(watch.check().ok).toBe(true);
  await watch.stop();
});

it('is not ready for ever, and can be stopped, though one question is never answered', async () => {
  let asked = 0;
  const ask = (): Promise<unknown> => ((asked += 1) === 2 ? new Promise(() => undefined) : Promise.resolve());
  const watch = watchDependency('database', clock, ask);
  await seconds(20);
  expect(asked).toBe(2);
  const { ok, detail } = watch.check();
  expect({ ok, detail: detail.replace(/\d+/, 'N') }).toEqual({ ok: false, detail: 'no answer for N ms' });
  await seconds(20);
  expect(watch.check().ok).toBe(true);
  await watch.stop();
});

it('is stopped at once, though a question is open', async () => {
  const watch = watchDependency('database', clock, () => new Promise(() => undefined));
  let stopped = false;
  void watch.stop().then(() => (stopped = true));
  await seconds(0);
  expect(stopped).toBe(true);
});
