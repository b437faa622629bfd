import { expect, test } from 'vitest';
import { createPlaces } from './places.ts';

/** Work that ends when it is told to, by the order in which it began. */
function held() {
  const begun: string[] = [];
  const ends: (() => void)[] = [];
  const work = (name: string) => async (): Promise<string> => {
    begun.push(name);
    await new Promise<void>((end) => ends.push(end));
    return name;
  };
  const settled = () => new Promise<void>((next) => setImmediate(next));
  return {
    begun,
    work,
    settled,
    endOne: async () => {
      ends.shift()?.();
      await settled();
    },
  };
}

test('Whoever comes after a flood of one source waits for one of its turns, and not for all', async () => {
  const places = createPlaces({ atOnce: 1, waiting: 100 });
  const { begun, work, endOne, settled } = held();
  const all = Array.from({ length: 50 }, (_, at) => places.take('flood', work(`flood ${at}`)));
  const right = places.take('ada', work('ada'));
  await settled();
  await endOne();
  await endOne();
  expect(begun).toEqual(['flood 0', 'flood 1', 'ada']);
  for (let at = 0; at < 50; at += 1) await endOne();
  expect(await right).toBe('ada');
  expect(await Promise.all(all)).toHaveLength(50);
});

test('Where all waits are taken, the source with the most gives one up; of a source that has as many, one more is refused', async () => {
  const places = createPlaces({ atOnce: 1, waiting: 4 });
  const { begun, work, endOne } = held();
  const flood = Array.from({ length: 5 }, (_, at) => places.take('flood', work(`flood ${at}`)));
  const answers = Promise.allSettled(flood);
  await expect(places.take('flood', work('more'))).rejects.toMatchObject({ code: 'overloaded' });
  const others = ['ada', 'bob'].map((name) => places.take(name, work(name)));
  await expect(places.take('ada', work('ada again'))).rejects.toMatchObject({ code: 'overloaded' });
  for (let at = 0; at < 6; at += 1) await endOne();
  expect(await Promise.all(others)).toEqual(['ada', 'bob']);
  expect(begun).toEqual(['flood 0', 'flood 1', 'ada', 'bob', 'flood 2']);
  expect((await answers).map(({ status }) => status)).toEqual([
    'fulfilled',
    'fulfilled',
    'fulfilled',
    'rejected',
    'rejected',
  ]);
});

test('A place is free again after work that failed', async () => {
  const places = createPlaces({ atOnce: 1, waiting: 0 });
  const fails = async () => Promise.reject(new Error('no'));
  await expect(places.take('ada', fails)).rejects.toThrow('no');
  expect(await places.take('ada', async () => 'yes')).toBe('yes');
});
