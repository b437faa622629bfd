import { describe, expect, it } from 'vitest';
import { commandKeyOf } from '../src/frame/command-key.ts';
import { groundTitle } from '../src/screens/cadence/run-words.ts';
import { momentWords, nowBeside } from '../src/ui/time-words.ts';

const NOON = Date.UTC(2026, 10, 28, 12);
const at = (text: string): Date => new Date(text);
const words = (text: string): string => momentWords(at(text), nowBeside(at(text), NOON), 'UTC');

describe('A moment', () => {
  it('has its date when it is not today, also in the future', () => {
    expect(words('2026-12-05T07:03:15Z')).toBe('2026-12-05 07:03:15');
    expect(words('2026-11-28T07:03:15Z')).toBe('07:03:15');
    expect(words('2026-11-28T19:03:15Z')).toBe('19:03:15');
  });

  it('slightly ahead of the ticking clock is shown as of today', () => {
    const midnight = at('2026-11-29T00:00:05Z');
    expect(momentWords(midnight, nowBeside(midnight, midnight.getTime() - 10_000), 'UTC')).toBe('00:00:05');
  });
});

describe('The command key', () => {
  it.each([
    ['MacIntel', '⌘'],
    ['iPhone', '⌘'],
    ['Linux x86_64', 'Ctrl'],
    ['Win32', 'Ctrl'],
    ['', 'Ctrl'],
  ])('of %s is %s', (platform, key) => {
    expect(commandKeyOf(platform)).toBe(key);
  });
});

describe('The drawing of a cadence', () => {
  it('is not called the last 7 days when its week is an example', () => {
    expect(groundTitle({ history: 'example' })).toBe('Example week');
    expect(groundTitle({ history: 'own' })).toBe('Last 7 days');
  });
});
