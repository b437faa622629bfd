import { isJsonObject, type Json } from '@carillon/kernel';
import fc from 'fast-check';

/** Few names, so that they come twice, and in another order than before. */
const name = fc.oneof(
  fc.constantFrom('a', 'b', 'ab', '', '0', '1', 'a ', '__proto__', 'constructor'),
  fc.constantFrom('x'.repeat(40), 'y'.repeat(41), 'z'.repeat(41)),
);
const number = fc.oneof(
  fc.double().map(String),
  fc.integer().map(String),
  fc.bigInt({ min: -(2n ** 64n), max: 2n ** 64n }).map(String),
  fc
    .tuple(fc.constantFrom('', '-'), fc.nat({ max: 10 ** 9 }), fc.stringMatching(/^\d{0,12}$/))
    .map(([sign, whole, fraction]) => `${sign}${whole}.${fraction}`),
  fc.stringMatching(/^-?\d{0,20}(\.\d{0,20})?([eE][+-]?\d{0,4})?$/),
);
const string = fc.oneof(fc.string({ maxLength: 20 }), fc.constantFrom('{', '":', ',', '\u007f', '\u0000', 'ä', '😀'));
const { value } = fc.letrec<{ value: string }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 5, depthSize: 'small' },
    fc.oneof(
      number,
      string.map((one) => JSON.stringify(one)),
      fc.constantFrom('true', 'false', 'null', 'tru', ''),
    ),
    fc.array(tie('value'), { maxLength: 4 }).map((items) => `[${items.join(',')}]`),
    fc
      .array(fc.tuple(name, tie('value'), fc.constantFrom(':', ': ', ' :')), { maxLength: 5 })
      .map((fields) => `{${fields.map(([one, item, colon]) => `"${one}"${colon}${item}`).join(', ')}}`),
  ),
}));
const damage = fc.record({
  at: fc.nat(),
  cut: fc.nat({ max: 2 }),
  put: fc.constantFrom('', '"', '{', '}', '[', ']', ',', ':', '-', '0', '.', 'e', ' ', '\\', '\n', '\u00e4', '"a":1,'),
});
/** JSON of any form, often damaged in one or two places. */
export const jsonText = fc.tuple(value, fc.array(damage, { maxLength: 2 })).map(([whole, changes]) =>
  changes.reduce((now, { at, cut, put }) => {
    const from = at % (now.length + 1);
    return now.slice(0, from) + put + now.slice(from + cut);
  }, whole),
);

/** All there is to see of a value: prototypes, names in their order, -0, bigints. */
export function seen(of: Json): unknown {
  if (Array.isArray(of)) return (of as readonly Json[]).map(seen);
  if (isJsonObject(of)) {
    return [Object.getPrototypeOf(of), ...Object.entries(of).map(([key, item]) => [key, seen(item)])];
  }
  return of;
}
