import { createChance } from '../harness/chance.ts';

/** Chance that can be repeated, in the forms that generators need. */
export type Dice = {
  /** Whether something of this share comes true. */
  chance(share: number): boolean;
  /** A whole number, both ends included. */
  between(least: number, most: number): number;
  pick<T>(list: readonly T[]): T;
  /** One of the entries, by their weights. */
  weighted<T>(entries: readonly (readonly [weight: number, T])[]): T;
};

/** The same seed and number give the same case, whatever cases came before. */
export function createDice(seed: number, number = 0): Dice {
  const next = createChance(Math.imul(seed | 0, 0x9e3779b1) ^ Math.imul(number + 1, 0x85ebca6b));
  const between = (least: number, most: number): number => least + Math.floor(next() * (most - least + 1));
  return {
    chance: (share) => next() < share,
    between,
    pick<T>(list: readonly T[]): T {
      if (list.length === 0) throw new Error('there is nothing to pick from');
      return list[between(0, list.length - 1)] as T;
    },
    weighted<T>(entries: readonly (readonly [number, T])[]): T {
      let left = next() * entries.reduce((sum, [weight]) => sum + weight, 0);
      for (const [weight, value] of entries) {
        left -= weight;
        if (left < 0) return value;
      }
      const last = entries.at(-1);
      if (!last) throw new Error('there is nothing to pick from');
      return last[1];
    },
  };
}
