import { expect, it } from 'vitest';
import { closingLines, findingsOf, newTally } from './tally.ts';

it('Each part of a long run justifies a bound by its own failures alone, and none where it found something', () => {
  const tally = newTally();
  expect(closingLines(tally)).toEqual([]);
  tally['kills at random'].failures = 30;
  tally.events = 654;
  tally['cases at failpoints'].failures = 232;
  expect(closingLines(tally)).toEqual([
    '30 kills at random under 654 events, 0 findings: with 95 % confidence fewer than 0.10 of all such lead to one (3/n, n = 30)',
    '232 cases at failpoints, 0 findings: with 95 % confidence fewer than 0.013 of all such lead to one (3/n, n = 232)',
  ]);
  tally['cases at failpoints'].findings.push('lost: something');
  expect(closingLines(tally)[1]).toBe('232 cases at failpoints, 1 findings');
  expect(findingsOf(tally)).toEqual(['lost: something']);
});
