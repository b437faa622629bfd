import { describe, expect, it } from 'vitest';
import { exploreDigests } from './support/digest-model.ts';

/** Some ten thousand states each. */
const LONG = 600_000;

describe('every order of steps of two workers, a crash and an operator', () => {
  it(
    'leaves each item in one digest, or called off',
    () => {
      const { broken, states, way } = exploreDigests('none');
      expect({ broken, way }).toEqual({ broken: null, way: [] });
      expect(states).toBeGreaterThan(1000);
    },
    LONG,
  );

  it.each([
    ['noToken', 'the list names deliveries without their token'],
    ['listFirst', 'an item is listed before it is collected'],
    ['noFreeze', 'emptying goes by what is collected now, not by the closed list'],
    ['emitWaiting', 'emptying takes what waits too'],
    ['insertFirst', 'the digest is inserted before its items are moved'],
    ['reuseN', 'a closed window leaves its number to the next'],
  ] as const)('finds what breaks where %s: %s', { timeout: LONG }, (mutant, _why) => {
    const { broken, way } = exploreDigests(mutant);
    expect(broken).not.toBeNull();
    expect(way.length).toBeGreaterThan(0);
  });
});
