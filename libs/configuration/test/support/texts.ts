import fc, { type Arbitrary } from 'fast-check';

/* Texts that bodies are made of. */

export const name = fc.stringMatching(/^[a-z0-9]([a-z0-9-]{0,8}[a-z0-9])?$/);
export const words = fc
  .string({ unit: 'grapheme', minLength: 1, maxLength: 30 })
  .filter((text) => text.trim() === text && !text.includes('§'));
/** Expressions with all that YAML makes something else of: quotes, colons, comments, tags, lines. */
export const expression = fc.oneof(
  fc.constantFrom(
    'event.status == "paid" && event.total > 100',
    '!event.deleted',
    'event.a ? "x: y" : "z # no comment"',
    'true',
    '1.50',
    'null',
    'event.a == 1\n  && event.b == 2',
    '"a" + \'b\'',
    '- 1',
    '[1, 2]',
    '{"a": 1}.a',
    '~',
  ),
  fc
    .string({ unit: 'grapheme-ascii', minLength: 1, maxLength: 40 })
    .map((text) => text.trim())
    // Names of changes are refused on the streams of most rules.
    .filter((text) => text !== '' && !/\b(previous|op|source)\b/.test(text)),
);
export const duration = fc
  .tuple(fc.integer({ min: 1, max: 50 }), fc.constantFrom('s', 'm', 'h', 'd'))
  .map((parts) => parts.join(''));
export const id = (prefix: string) => fc.stringMatching(/^[0-9A-HJKMNP-TV-Z]{26}$/).map((text) => prefix + text);
export const optional = <T extends object>(model: { [K in keyof T]: Arbitrary<T[K]> }): Arbitrary<Partial<T>> =>
  fc.record(model, { requiredKeys: [] }) as Arbitrary<Partial<T>>;
