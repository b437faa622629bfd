import { expect, it } from 'vitest';
import { createCount } from './health.ts';

function slowLedger(takes: number) {
  let time = 0;
  let asked = 0;
  let fails = false;
  const read = createCount(
    async () => {
      asked += 1;
      time += takes;
      if (fails) throw new Error('away');
      return { WAITING: asked };
    },
    () => time,
  );
  return { read, asked: () => asked, pass: (span: number) => (time += span), fail: (now: boolean) => (fails = now) };
}

it('a count that takes 200 ms is kept for 20 s, and then made anew', async () => {
  const { read, asked, pass } = slowLedger(200);
  expect(await read()).toEqual({ WAITING: 1 });
  pass(19_000);
  expect(await read()).toEqual({ WAITING: 1 });
  pass(1_000);
  expect(await read()).toEqual({ WAITING: 2 });
  expect(asked()).toBe(2);
});

it('a count that takes no time is made each time', async () => {
  const { read, asked } = slowLedger(0);
  await read();
  await read();
  expect(asked()).toBe(2);
});

it('a count under way serves all who ask, and one that failed is not kept', async () => {
  const { read, asked, fail } = slowLedger(200);
  fail(true);
  const both = await Promise.allSettled([read(), read()]);
  expect(both.map(({ status }) => status)).toEqual(['rejected', 'rejected']);
  expect(asked()).toBe(1);
  fail(false);
  expect(await read()).toEqual({ WAITING: 2 });
});
