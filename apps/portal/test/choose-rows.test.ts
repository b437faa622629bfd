import { describe, expect, it } from 'vitest';
import { actionsOfAll } from '../src/screens/deliveries/decisions.ts';
import { choosing, NONE_CHOSEN, type Chosen } from '../src/ui/choose-rows.ts';

const order = ['a', 'b', 'c', 'd', 'e'];
/** After these rows were taken, one after the other; `+` before one: with all since the last. */
const after = (...rows: readonly string[]): Chosen =>
  rows.reduce(
    (chosen, row) => choosing(chosen, row.replace('+', ''), { isRange: row.startsWith('+'), order }),
    NONE_CHOSEN,
  );

describe('choosing rows of a list', () => {
  it.each([
    [['b'], 'b'],
    [['b', 'd'], 'b d'],
    [['b', 'b'], ''],
    [['b', '+d'], 'b c d'],
    [['d', '+b'], 'b c d'],
    [['+c'], 'c'],
    // A range becomes what its end becomes.
    [['a', '+e', 'c', '+d'], 'a b e'],
    [['b', '+d', '+e'], 'b c d e'],
  ])('by %j leaves %j', (rows, chosen) => {
    expect([...after(...rows).keys].toSorted().join(' ')).toBe(chosen);
  });

  it('selects a single row if the start of the range has left the list', () => {
    const gone = choosing(after('b'), 'd', { isRange: true, order: ['c', 'd', 'e'] });
    expect([...gone.keys].toSorted()).toEqual(['b', 'd']);
  });
});

describe('the action for chosen deliveries', () => {
  it.each([
    [[], []],
    [['FAILED', 'EXPIRED', 'CANCELLED'], ['resend']],
    [
      ['IN_DOUBT', 'IN_DOUBT'],
      ['sent', 'failed', 'resend'],
    ],
    [['IN_DOUBT', 'FAILED'], ['resend']],
    [['WAITING', 'COLLECTED'], ['cancel']],
    [['WAITING', 'FAILED'], []],
    [['SENT'], []],
  ])('in the states %j is %j', (states, actions) => {
    expect(actionsOfAll(states)).toEqual(actions);
  });
});
