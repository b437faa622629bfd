import { describe, expect, it } from 'vitest';
import { classify } from '../src/index.ts';
import { CODES } from '../src/outcome-table.ts';
import { ANSWERS } from './answers.ts';

describe('an answer of Twilio', () => {
  it.each(ANSWERS)('%s with code %s is %s, suppressed: %s', (status, code, verdict, suppress) => {
    expect(classify(status, code)).toMatchObject({ verdict, suppress });
  });

  it('is held here for every code that the table knows', () => {
    const held = new Set(ANSWERS.map(([, code]) => code));
    expect([...CODES.keys()].filter((code) => !held.has(code))).toEqual([]);
  });
});
