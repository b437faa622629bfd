import { describe, expect, it } from 'vitest';
import { exploreDigests } from './support/digest-model.ts';

/** Some ten thousand states each. */
const LONG = 600_000;

describe('a model of a digest with two workers, a crash and an operator, in every order of steps', () => {
  it(
    'leaves each message in one digest, or cancelled',
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
  ] as const)('finds a planted bug where %s: %s', { timeout: LONG }, (mutant, _why) => {
    const { broken, way } = exploreDigests(mutant);
    expect(broken).not.toBeNull();
    expect(way.length).toBeGreaterThan(0);
  });
});
