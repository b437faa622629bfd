import { expect, test } from 'vitest';
import { createSignInAdmission } from './sign-in-admission.ts';

const source = (name: string, wrong = 0) => ({ source: name, wrong });

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

test('sign-in queue: a newcomer waits for one attempt of a flooding source, not for all of them', async () => {
  const admission = createSignInAdmission({ atOnce: 1, waiting: 100 });
  const { begun, work, endOne, settled } = held();
  const all = Array.from({ length: 50 }, (_, at) => admission.take(source('flood'), work(`flood ${at}`)));
  const right = admission.take(source('ada'), work('ada'));
  await settled();
  await endOne();
  await endOne();
  expect(begun).toEqual(['flood 0', 'flood 1', 'ada']);
  for (let at = 0; at < 50; at += 1) await endOne();
  expect(await right).toBe('ada');
  expect(await Promise.all(all)).toHaveLength(50);
});

test('sign-in queue: when it is full, the source with the most waiting attempts loses one; a source with as many is refused', async () => {
  const admission = createSignInAdmission({ atOnce: 1, waiting: 4 });
  const { begun, work, endOne } = held();
  const flood = Array.from({ length: 5 }, (_, at) => admission.take(source('flood'), work(`flood ${at}`)));
  const answers = Promise.allSettled(flood);
  await expect(admission.take(source('flood'), work('more'))).rejects.toMatchObject({ code: 'overloaded' });
  const others = ['ada', 'bob'].map((name) => admission.take(source(name), work(name)));
  await expect(admission.take(source('ada'), work('ada again'))).rejects.toMatchObject({ code: 'overloaded' });
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

test('sign-in queue: many sources with a wrong password each do not push out a source with fewer wrong passwords', async () => {
  const admission = createSignInAdmission({ atOnce: 1, waiting: 128 });
  const { begun, work, endOne, settled } = held();
  const first = admission.take(source('first'), work('first'));
  const crowd = Array.from({ length: 128 }, (_, at) =>
    admission.take(source(`guesser ${at}`, 1 + (at % 3)), work('guess')),
  );
  const answers = Promise.allSettled(crowd);
  const right = admission.take(source('ada'), work('ada'));
  const mistyped = admission.take(source('bob', 1), work('bob'));
  await expect(admission.take(source('one more', 3), work('guess'))).rejects.toMatchObject({ code: 'overloaded' });
  await settled();
  await endOne();
  await endOne();
  expect(begun.slice(0, 2)).toEqual(['first', 'ada']);
  for (let at = 0; at < 128; at += 1) await endOne();
  expect(await Promise.all([first, right, mistyped])).toEqual(['first', 'ada', 'bob']);
  // Bob came last of those who guessed wrong once; one place in four went to whoever waited longest.
  // Two of the crowd gave their wait up.
  expect(begun.indexOf('bob')).toBeLessThanOrEqual(2 + (43 * 4) / 3);
  expect((await answers).filter(({ status }) => status === 'rejected')).toHaveLength(2);
});

test('sign-in queue: a source with 50 wrong passwords is refused before an office with three waiting attempts', async () => {
  const admission = createSignInAdmission({ atOnce: 1, waiting: 4 });
  const { begun, work, endOne } = held();
  const first = admission.take(source('first'), work('first'));
  const office = [1, 2, 3].map((at) => admission.take(source('office'), work(`office ${at}`)));
  const guesser = admission.take(source('guesser', 50), work('guess'));
  await expect(admission.take(source('another', 51), work('guess'))).rejects.toMatchObject({ code: 'overloaded' });
  const fourth = admission.take(source('office'), work('office 4'));
  await expect(guesser).rejects.toMatchObject({ code: 'overloaded' });
  await expect(admission.take(source('guesser', 50), work('guess'))).rejects.toMatchObject({ code: 'overloaded' });
  for (let at = 0; at < 5; at += 1) await endOne();
  await Promise.all([first, ...office, fourth]);
  expect(begun).toEqual(['first', 'office 1', 'office 2', 'office 3', 'office 4']);
});

test('sign-in queue: waiting attempts of a source lose their place after the source enters a wrong password', async () => {
  const admission = createSignInAdmission({ atOnce: 1, waiting: 4 });
  const { work, endOne } = held();
  const flood = Array.from({ length: 5 }, (_, at) => admission.take(source('flood'), work(`flood ${at}`)));
  const answers = Promise.allSettled(flood);
  await expect(admission.take(source('bob', 1), work('bob'))).rejects.toMatchObject({ code: 'overloaded' });
  await expect(admission.take(source('flood', 2), work('more'))).rejects.toMatchObject({ code: 'overloaded' });
  const bob = admission.take(source('bob', 1), work('bob'));
  for (let at = 0; at < 5; at += 1) await endOne();
  expect(await bob).toBe('bob');
  expect((await answers).filter(({ status }) => status === 'rejected')).toHaveLength(1);
});

test('sign-in queue: a source with one wrong password still gets its turn while new sources keep arriving', async () => {
  const admission = createSignInAdmission({ atOnce: 1, waiting: 100 });
  const { begun, work, endOne } = held();
  const all = [admission.take(source('first'), work('first'))];
  const bob = admission.take(source('bob', 1), work('bob'));
  for (let at = 0; at < 6; at += 1) {
    all.push(...[1, 2].map((one) => admission.take(source(`fresh ${at} ${one}`), work('fresh'))));
    await endOne();
  }
  expect(begun.indexOf('bob')).toBe(4);
  for (let at = 0; at < 10; at += 1) await endOne();
  expect(await bob).toBe('bob');
  await Promise.all(all);
});

test('A place is free again after work that failed', async () => {
  const admission = createSignInAdmission({ atOnce: 1, waiting: 0 });
  const fails = async () => Promise.reject(new Error('no'));
  await expect(admission.take(source('ada'), fails)).rejects.toThrow('no');
  expect(await admission.take(source('ada'), async () => 'yes')).toBe('yes');
});
