import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';

const src = join(import.meta.dirname, '../src');
const files = readdirSync(src, { recursive: true, encoding: 'utf8' });
const textOf = (name: string): string => readFileSync(join(src, name), 'utf8');

/** A colour by number or function; names of the system's own colours count in forced-colors alone. */
const COLOUR =
  /#[0-9a-f]{3,8}\b|\b(?:rgba?|hsla?|oklch|oklab|lab|lch|color|light-dark)\(|:\s*(?:white|black|red|green|blue|gray|grey)\b/i;

it('takes every colour from the tokens', () => {
  const styled = files.filter((name) => name.endsWith('.css') && !name.endsWith('tokens.css'));
  expect(styled.length).toBeGreaterThan(10);
  const drawn = files.filter((name) => name.endsWith('.tsx'));
  const inSheets = styled.filter((name) => COLOUR.test(textOf(name)));
  const inCode = drawn.filter((name) => /style=\{\{[^}]*#[0-9a-f]{3}|fill="#|stroke="#/i.test(textOf(name)));
  expect([...inSheets, ...inCode]).toEqual([]);
});

it('uses no token that is not there', () => {
  const known = new Set(textOf('style/tokens.css').match(/--[\w-]+(?=:)/g));
  const used = files
    .filter((name) => name.endsWith('.css'))
    .flatMap((name) => [...textOf(name).matchAll(/var\((--[\w-]+)/g)].map(([, token]) => token ?? ''));
  expect(used.filter((token) => !known.has(token))).toEqual([]);
});

/** WCAG 2: relative luminance of a colour written as six digits. */
function luminance(hex: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const part = Number.parseInt(hex.slice(at, at + 2), 16) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}
const contrast = (a: string, b: string): number => {
  const [low = 0, high = 0] = [luminance(a), luminance(b)].toSorted((x, y) => x - y);
  return (high + 0.05) / (low + 0.05);
};

const PAIRS = new Map(
  [...textOf('style/tokens.css').matchAll(/--([\w-]+): light-dark\((#[0-9a-f]{6}), (#[0-9a-f]{6})\)/g)].map(
    ([, name = '', light = '', dark = '']) => [name, [light, dark]] as const,
  ),
);
const STATES = ['good', 'wait', 'held', 'bad', 'doubt', 'none'];
const READ: readonly (readonly [string, string, number])[] = [
  ...['ink', 'quiet', 'faint', 'accent'].flatMap((ink) =>
    ['ground', 'sheet', 'raised'].map((on) => [ink, on, 4.5] as const),
  ),
  ...STATES.map((state) => [state, `${state}-tint`, 4.5] as const),
  ...STATES.flatMap((state) => ['ground', 'sheet'].map((on) => [`c-${state}`, on, 3] as const)),
  ['control', 'sheet', 3],
  ['focus', 'ground', 3],
];

it.each(READ)('%s can be told from %s, at least %f to 1, in light and dark', (ink, on, least) => {
  for (const theme of [0, 1]) {
    expect(contrast(PAIRS.get(ink)?.[theme] ?? '', PAIRS.get(on)?.[theme] ?? '')).toBeGreaterThanOrEqual(least);
  }
});

/** Tokens of text, and tokens on which text stands. */
const TEXTS = [
  'ink',
  'quiet',
  'faint',
  'accent',
  ...STATES,
  'syn-field',
  'syn-string',
  'syn-number',
  'syn-keyword',
  'syn-function',
];
const GROUNDS = ['ground', 'sheet', 'raised', 'sunken', 'hover', 'chosen', ...STATES.map((state) => `${state}-tint`)];

// Browser tests ask axe about the contrast in the light theme only, because of this.
it.each(TEXTS)(
  '%s can be read in the dark theme on every ground on which it can be read in the light theme',
  (text) => {
    const readableOn = (theme: 0 | 1): readonly string[] =>
      GROUNDS.filter((on) => contrast(PAIRS.get(text)?.[theme] ?? '', PAIRS.get(on)?.[theme] ?? '') >= 4.5);
    const inLight = readableOn(0);
    expect(inLight).toEqual(expect.arrayContaining(['ground', 'sheet', 'raised']));
    expect(inLight.filter((on) => !readableOn(1).includes(on))).toEqual([]);
  },
);

it.each(['accent-fill', 'accent-fill-hover'])('%s carries --on-accent in both themes', (fill) => {
  for (const colour of PAIRS.get(fill) ?? ['']) expect(contrast('#ffffff', colour)).toBeGreaterThanOrEqual(4.5);
});

/** Tokens that fill what carries no text, and the main button, whose text is `--on-accent`. */
const FILLS = [
  'accent-fill',
  'accent-fill-hover',
  'on-accent',
  'veil',
  'control',
  'paper',
  ...STATES.map((state) => `c-${state}`),
];

it.each([
  ['color', [...TEXTS, 'on-accent']],
  ['background(?:-color)?', [...GROUNDS, ...FILLS]],
] as const)('declares %s with tokens whose contrast is tested above', (property, tested) => {
  const declaration = new RegExp(`[{;\\s]${property}:[^;}]*?var\\(--([\\w-]+)`, 'g');
  const used = files
    .filter((name) => name.endsWith('.css'))
    .flatMap((name) => [...textOf(name).matchAll(declaration)].map(([, token = '']) => token));
  expect(used.length).toBeGreaterThan(50);
  expect(used.filter((token) => !tested.includes(token))).toEqual([]);
});
