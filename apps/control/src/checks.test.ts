import { CarillonError } from '@carillon/kernel';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { checkStep, checkSteps } from './checks.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const never = (): Promise<never> => new Promise(() => undefined);

describe('A step of the doctor', () => {
  it('says what was seen, or what was thrown', async () => {
    expect(await checkStep('database', async () => 'answers')).toEqual({
      step: 'database',
      ok: true,
      detail: 'answers',
    });
    const away = new CarillonError('store_unavailable', 'nobody answers');
    expect(await checkStep('database', () => Promise.reject(away))).toEqual({
      step: 'database',
      ok: false,
      detail: 'nobody answers',
    });
    expect(vi.getTimerCount()).toBe(0);
  });

  it('has its time, and then says that there was no answer', async () => {
    const looked = checkStep('Kafka', never);
    await vi.advanceTimersByTimeAsync(4_000);
    expect(await looked).toEqual({ step: 'Kafka', ok: false, detail: 'no answer within 4000 ms' });
  });

  it('reports one failed step when a check of many items times out', async () => {
    const two = [
      { step: 'database', ok: true, detail: '' },
      { step: 'database writes', ok: false, detail: '' },
    ];
    expect(await checkSteps('database', async () => two)).toEqual(two);
    const looked = checkSteps('database', never);
    await vi.advanceTimersByTimeAsync(4_000);
    expect(await looked).toEqual([{ step: 'database', ok: false, detail: 'no answer within 4000 ms' }]);
  });
});
