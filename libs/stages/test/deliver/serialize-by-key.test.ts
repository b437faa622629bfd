import { describe, expect, it } from 'vitest';
import { serializeByKey } from '../../src/deliver/serialize-by-key.ts';

describe('serializeByKey (runs tasks with the same key one after the other)', () => {
  it('starts tasks of one key in call order, each after the previous one has ended', async () => {
    const turns = serializeByKey();
    const seen: string[] = [];
    const ends: (() => void)[] = [];
    const work = (name: string) => async () => {
      seen.push(`${name} begins`);
      await new Promise<void>((resolve) => ends.push(resolve));
      seen.push(`${name} ends`);
      return name;
    };
    const done = Promise.all([turns('ada', work('first')), turns('ada', work('second')), turns('bob', work('other'))]);
    await new Promise(setImmediate);
    expect(seen).toEqual(['first begins', 'other begins']);
    while (ends.length > 0) {
      ends.shift()?.();
      await new Promise(setImmediate);
    }
    expect(await done).toEqual(['first', 'second', 'other']);
    expect(seen).toEqual(['first begins', 'other begins', 'first ends', 'second begins', 'other ends', 'second ends']);
  });

  it('continues after a task failed, and only its caller gets the error', async () => {
    const turns = serializeByKey();
    const failed = turns('ada', () => Promise.reject(new Error('no disk')));
    const next = turns('ada', () => Promise.resolve('fine'));
    await expect(failed).rejects.toThrow('no disk');
    expect(await next).toBe('fine');
    expect(await turns('ada', () => Promise.resolve('later'))).toBe('later');
  });
});
