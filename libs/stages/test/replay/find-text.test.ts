import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createTextFinder } from '../../src/index.ts';

const latin1 = (text: string): string =>
  [...new TextEncoder().encode(text)].map((byte) => String.fromCharCode(byte)).join('');
const finds = (text: string, json: string): boolean => createTextFinder([text])(latin1(json));

describe('the search for a text in stored events', () => {
  it.each([
    ['ada@example.com', '{"to":"ada@example.com"}'],
    ['ADA@example.com', '{"to":"Ada@Example.COM"}'],
    ['é', String.raw`{"name":"\u00e9"}`],
    ['é', String.raw`{"name":"\u00E9"}`],
    ['Ünal', '{"name":"ÜNAL"}'],
    ['😀', String.raw`{"name":"\ud83d\uDE00"}`],
    ['😀', '{"name":"😀"}'],
    ['a/b', String.raw`{"path":"a\/b"}`],
    ['a/b', String.raw`{"path":"a\u002Fb"}`],
    ['say "hi"', String.raw`{"text":"say \"hi\""}`],
    ['a\\b', String.raw`{"path":"a\\b"}`],
    ['line\nbreak', String.raw`{"text":"line\nbreak"}`],
    ['Иван', '{"name":"ИВАН"}'],
    ['kelvin', '{"unit":"\u212Aelvin"}'],
    ['istanbul', '{"city":"x\u0130"}'.replace('x\u0130', 'istanbul')],
    ['i\u0307x', '{"city":"\u0130x"}'],
    ['οδος', '{"street":"ΟΔΟΣ"}'],
    ['山田', String.raw`{"name":"\u5c71田"}`],
    ['42', '{"user":42}'],
  ])('finds %s in %s', (text, json) => {
    expect(finds(text, json)).toBe(true);
  });

  it.each([
    ['ada@example.com', '{"to":"ada@example.org"}'],
    ['ada.example', '{"to":"adaXexample"}'],
    ['"', '{"to":"none"}'],
    ['a\nb', '{"to":"a b"}'],
    ['é', String.raw`{"name":"\u00ea"}`],
  ])('does not find %s in %s', (text, json) => {
    expect(finds(text, json)).toBe(false);
  });

  it('finds any of several texts', () => {
    const finder = createTextFinder(['ada@bücher.example', 'ada@xn--bcher-kva.example']);
    expect(finder(latin1('{"to":"Ada@BÜCHER.example"}'))).toBe(true);
    expect(finder(latin1('{"to":"ada@xn--bcher-kva.example"}'))).toBe(true);
    expect(finder(latin1('{"to":"ada@bucher.example"}'))).toBe(false);
  });

  it('finds every event with a string that contains the text, whatever JSON escapes the string has', () => {
    fc.assert(
      fc.property(
        strings,
        strings,
        fc.nat(),
        fc.nat(),
        fc.infiniteStream(fc.nat(5)),
        (value, other, from, length, dice) => {
          const characters = [...value];
          const start = characters.length === 0 ? 0 : from % characters.length;
          const text = characters.slice(start, start + 1 + (length % 8)).join('');
          fc.pre(text !== '');
          const written = `{${jsonOf(other, dice)}:[${jsonOf(other, dice)},{"name":${jsonOf(value, dice)}}]}`;
          expect(JSON.parse(written)).toEqual({ [other]: [other, { name: value }] });
          for (const asked of [text, text.toUpperCase(), text.toLowerCase()]) {
            if (value.toLowerCase().includes(asked.toLowerCase())) expect(finds(asked, written)).toBe(true);
          }
        },
      ),
      { numRuns: 200 },
    );
  });

  it('finds no other event if the events have no backslash', () => {
    fc.assert(
      fc.property(strings, strings, fc.infiniteStream(fc.nat(5)), (value, text, dice) => {
        const written = `{"name":${jsonOf(value, dice)}}`;
        // Half of the small form of this one letter is found too.
        fc.pre(text !== '' && !written.includes('\\') && !/\u0130/.test(written));
        expect(finds(text, written)).toBe(foldOf(written).includes(foldOf(text)) && !/["\\]/.test(text));
      }),
      { numRuns: 200 },
    );
  });
});

/** Case folding as the search has it: all forms of sigma are one. */
const foldOf = (text: string): string => text.toLowerCase().replaceAll('ς', 'σ');

/** Characters that JSON can write in several ways, or that have a case. */
const character = fc.oneof(
  fc.constantFrom(...Array.from('aAkKéÉÜßİiıΣσςЖж山😀𐐀𐐨/"\\\n\t\b.*+?()[]{}|^$@-0')),
  fc.string({ unit: 'grapheme', maxLength: 1 }),
  fc.string({ unit: 'binary', maxLength: 1 }),
);
const strings = fc
  .array(character, { maxLength: 20 })
  .map((characters) => characters.join(''))
  .filter((text) => !/\p{Surrogate}/u.test(text));

const SHORT: Readonly<Record<string, string>> = {
  '"': '\\"',
  '\\': '\\\\',
  '/': '\\/',
  '\n': '\\n',
  '\t': '\\t',
  '\b': '\\b',
  '\f': '\\f',
  '\r': '\\r',
};

/** Writes a string as JSON, each character in one of its ways. */
function jsonOf(text: string, dice: fc.Stream<number>): string {
  const written = [...text].map((each) => {
    const { value: way = 0 } = dice.next() as { value?: number };
    const escapes = Array.from({ length: each.length }, (_, at) => each.charCodeAt(at).toString(16).padStart(4, '0'));
    if (way === 0) return escapes.map((digits) => `\\u${digits}`).join('');
    if (way === 1) return escapes.map((digits) => `\\u${digits.toUpperCase()}`).join('');
    const short = SHORT[each];
    if (short !== undefined && (way === 2 || each !== '/')) return short;
    return each < ' ' ? escapes.map((digits) => `\\u${digits}`).join('') : each;
  });
  return `"${written.join('')}"`;
}
