import type { AccountChoice } from '@carillon/domain/deliveries';
import { settableClock } from '@carillon/testing/given';
import fc from 'fast-check';
import { beforeEach, describe, expect, it } from 'vitest';
import { createRates, type Rates } from '../src/rates.ts';

const choice = (perSecond?: number, key = 'shop/main'): AccountChoice => ({
  key,
  workspace: 'shop',
  name: 'main',
  body: {
    kind: 'smtp',
    host: 'mail.example.com',
    port: 25,
    from: 'shop@example.com',
    ...(perSecond !== undefined && { rate: { per_second: perSecond } }),
  },
});

let clock = settableClock();
let share: number;
let waited: number;
let rates: Rates;
const stopping = new AbortController();
beforeEach(() => {
  clock = settableClock();
  share = 1;
  waited = 0;
  rates = createRates({
    clock,
    share: () => share,
    pause: async (span) => {
      waited += span;
      clock.pass(span);
    },
  });
});

/** How long it takes until so many messages may have gone, one after the other. */
async function spanOf(messages: number, account: AccountChoice): Promise<number> {
  const began = clock.now();
  for (let sent = 0; sent < messages; sent += 1) await rates.take(account, stopping.signal);
  return clock.now() - began;
}

describe('the rate of an account', () => {
  it('is kept by a sender of consecutive messages', async () => {
    expect(await spanOf(101, choice(10))).toBeCloseTo(10_000, -3);
  });

  it('is unlimited if the account sets none', async () => {
    expect(await spanOf(1000, choice())).toBe(0);
  });

  it('belongs to each process by its share, and changes with it', async () => {
    share = 0.25;
    expect(await spanOf(11, choice(10))).toBeCloseTo(4000, -3);
    share = 1;
    expect(await spanOf(10, choice(10))).toBeLessThan(1500);
  });

  it('does not delay messages of another account', async () => {
    await spanOf(5, choice(1));
    expect(await spanOf(1, choice(1, 'shop/backup'))).toBe(0);
  });

  it('is not saved up by an account that was idle', async () => {
    await spanOf(1, choice(10));
    clock.pass(3_600_000);
    expect(await spanOf(21, choice(10))).toBeGreaterThanOrEqual(1800);
  });

  it('does not delay messages after a clock was set back', async () => {
    await spanOf(1, choice(10));
    clock.pass(-3_600_000);
    expect(await spanOf(2, choice(10))).toBeLessThan(1000);
  });

  it('is waited for until the process stops, and then nothing goes', async () => {
    const ending = new AbortController();
    rates = createRates({ clock, share: () => 1, pause: async () => ending.abort() });
    expect(await rates.take(choice(1), ending.signal)).toBe(true);
    expect(await rates.take(choice(1), ending.signal)).toBe(false);
    expect(await rates.take(choice(), ending.signal)).toBe(false);
  });

  it('is exceeded over any second by at most a tenth, for any callers', async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.integer({ min: 1, max: 200 }),
        fc.array(fc.integer({ min: 0, max: 400 }), { minLength: 1, maxLength: 60 }),
        async (perSecond, gaps) => {
          const times: number[] = [];
          for (const gap of gaps) {
            clock.pass(gap);
            await rates.take(choice(perSecond, `shop/${gaps.length}-${perSecond}`), stopping.signal);
            times.push(clock.now());
          }
          for (const [index, from] of times.entries()) {
            const within = times.slice(index).filter((at) => at < from + 1000).length;
            expect(within).toBeLessThanOrEqual(perSecond * 1.1 + 2);
          }
        },
      ),
    );
  });
});
