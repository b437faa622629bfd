import { expect, it } from 'vitest';
import { closingLines, findingsOf, newTally } from './tally.ts';

it('Random kills that interrupted work justify a bound; every other part is only counted, and a part with findings has no bound', () => {
  const tally = newTally();
  expect(closingLines(tally)).toEqual([]);
  tally['kills at random'].failures = 30;
  tally.events = 654;
  tally.killsAtWork = 20;
  tally['cases at failpoints'].failures = 232;
  expect(closingLines(tally)).toEqual([
    '30 kills at random under 654 events, 20 of them at work, 0 findings: with 95 % confidence fewer than 0.15 of all kills at work lead to one (3/n, n = 20)',
    '232 cases at failpoints, 0 findings',
  ]);
  tally['cases at failpoints'].findings.push('lost: something');
  expect(closingLines(tally)[1]).toBe('232 cases at failpoints, 1 findings');
  expect(findingsOf(tally)).toEqual(['lost: something']);
  tally['kills at random'].findings.push('twice: something');
  expect(closingLines(tally)[0]).toBe('30 kills at random under 654 events, 20 of them at work, 1 findings');
});
