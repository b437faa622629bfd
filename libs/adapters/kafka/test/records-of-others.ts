import fc from 'fast-check';

/** Texts that other programs may write: plain and long, with characters of one to four bytes. */
export const anyText = fc.oneof(
  fc.string({ maxLength: 80 }),
  fc.string({ unit: 'binary', maxLength: 80 }),
  fc.constantFrom(
    'x'.repeat(63),
    'x'.repeat(64),
    'x'.repeat(65),
    'é'.repeat(40),
    '\u{1F514}'.repeat(33),
    'y'.repeat(9000),
  ),
);
export const anyBytes = fc.uint8Array({ maxLength: 300 }).map((value) => Buffer.from(value));

export const anyRecord = fc.record({
  key: anyText,
  value: fc.oneof(anyBytes, fc.constant(Buffer.alloc(20_000, 7))),
  headers: fc.dictionary(anyText, anyText, { maxKeys: 8, noNullPrototype: true }),
});
