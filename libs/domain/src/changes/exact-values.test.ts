import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { exactFloat, exactJson, exactMoment, exactNumber, formatMicroseconds } from './exact-values.ts';

/** A decimal as a whole number times a power of ten, without trailing zeros, so that equal values are equal texts. */
function valueOf(text: string): string {
  const [, sign = '', whole = '', fraction = '', exponent = '0'] =
    /^(-?)(\d+)(?:\.(\d+))?(?:e([+-]?\d+))?$/i.exec(text) ?? [];
  const digits = (whole + fraction).replace(/^0+/, '');
  const significant = digits.replace(/0+$/, '');
  if (significant === '') return '0';
  return `${sign}${significant}e${Number(exponent) - fraction.length + digits.length - significant.length}`;
}

const decimal = fc
  .record({
    negative: fc.boolean(),
    digits: fc.string({ unit: fc.integer({ min: 0, max: 9 }).map(String), minLength: 1, maxLength: 40, size: 'max' }),
    scale: fc.nat({ max: 20 }),
  })
  .map(({ negative, digits, scale }) => {
    const padded = digits.padStart(scale + 1, '0');
    const whole = padded.slice(0, padded.length - scale).replace(/^0+(?=\d)/, '');
    return `${negative ? '-' : ''}${whole}${scale === 0 ? '' : `.${padded.slice(padded.length - scale)}`}`;
  });

describe('exactNumber (reads a number without losing digits)', () => {
  it.each([
    ['0', 0],
    ['-0.00', 0],
    ['12.50', 12.5],
    ['10.00', 10],
    ['0.1', 0.1],
    ['9007199254740991', 9_007_199_254_740_991],
    ['9007199254740993', 9_007_199_254_740_993n],
    ['9223372036854775807', 9_223_372_036_854_775_807n],
    ['-9223372036854775808', -9_223_372_036_854_775_808n],
    ['9223372036854775808', '9223372036854775808'],
    ['100000000000000000000', 1e20],
    ['123456789012345.5', '123456789012345.5'],
    ['12345678901234.5', 12_345_678_901_234.5],
    ['1.000000000000000000001', '1.000000000000000000001'],
    ['1e3', 1000],
    ['1e-320', '1e-320'],
    ['1e400', '1e400'],
    ['1e999999999999999999999', '1e999999999999999999999'],
    ['NaN', 'NaN'],
    ['Infinity', 'Infinity'],
    ['-Infinity', '-Infinity'],
    ['', ''],
    ['0x10', '0x10'],
  ])('reads %s', (text, value) => expect(exactNumber(text)).toBe(value));

  it('reads a million digits in time proportional to their number', () => {
    const text = `1${'0'.repeat(1_000_000)}1`;
    expect(exactNumber(text)).toBe(text);
  });

  it('never returns a value that differs from the text, and returns a whole number within 64 bits as a number', () => {
    fc.assert(
      fc.property(decimal, (text) => {
        const read = exactNumber(text);
        // A double is what its shortest text names; it has 15 digits at most here, so that text is the source's value.
        expect(valueOf(String(read))).toBe(valueOf(text));
        const [, whole = '', fraction = ''] = /^(-?\d+)(?:\.(\d+))?$/.exec(text) ?? [];
        if (/^0*$/.test(fraction) && BigInt.asIntN(64, BigInt(whole)) === BigInt(whole)) {
          expect(typeof read).not.toBe('string');
        }
        const isDouble = typeof read === 'number' && !Number.isSafeInteger(read);
        if (isDouble) expect(/^-?(\d+)/.exec(valueOf(text))?.[1]?.length).toBeLessThanOrEqual(15);
      }),
      { numRuns: 5000 },
    );
  });
});

describe('exactFloat (reads a floating-point number)', () => {
  it('returns the double that the text names', () => {
    fc.assert(
      fc.property(fc.double(), (double) => {
        expect(exactFloat(String(double))).toBe(Number.isFinite(double) ? double + 0 : String(double));
      }),
    );
  });
});

describe('exactMoment (reads a time)', () => {
  it.each([
    ['2026-03-29 00:30:00.123456+00', '2026-03-29T00:30:00.123456Z'],
    ['2026-03-29 00:30:00+00', '2026-03-29T00:30:00Z'],
    ['2026-03-29 00:30:00.5', '2026-03-29T00:30:00.5'],
    ['infinity', 'infinity'],
    ['294276-12-31 23:59:59.999999+00', '294276-12-31 23:59:59.999999+00'],
    ['0044-03-15 00:00:00+00 BC', '0044-03-15 00:00:00+00 BC'],
    ['2026-03-29 00:30:00+01', '2026-03-29 00:30:00+01'],
  ])('reads %s', (text, value) => expect(exactMoment(text)).toBe(value));
});

const YEAR_1 = -62_135_596_800_000_000n;
const END_OF_9999 = 253_402_300_799_999_999n;

describe('times in microseconds, in the years 1 to 9999', () => {
  it('are the same moment as their text', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: YEAR_1, max: END_OF_9999 }), (microseconds) => {
        const text = formatMicroseconds(microseconds);
        expect(text).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z$/);
        const [seconds = '', fraction = ''] = text.slice(0, -1).split('.');
        expect(BigInt(Date.parse(`${seconds}Z`)) * 1000n + BigInt(fraction)).toBe(microseconds);
      }),
    );
  });

  it('are read from the text of a database without losing a digit', () => {
    fc.assert(
      fc.property(fc.bigInt({ min: YEAR_1, max: END_OF_9999 }), (microseconds) => {
        const [date = '', time = ''] = formatMicroseconds(microseconds).slice(0, -1).split('T');
        const written = `${date} ${time.replace(/\.?0+$/, (zeros) => (time.includes('.') ? '' : zeros))}+00`;
        const [seconds = '', fraction = ''] = exactMoment(written).slice(0, -1).split('.');
        expect(BigInt(Date.parse(`${seconds}Z`)) * 1000n + BigInt(fraction.padEnd(6, '0'))).toBe(microseconds);
      }),
    );
  });
});

describe('exactJson (reads JSON with exact numbers)', () => {
  it('keeps numbers exact at any depth', () => {
    expect(exactJson('{"a":[1.50,9007199254740993,0.12345678901234567,1e400,18446744073709551616]}')).toEqual({
      a: [1.5, 9_007_199_254_740_993n, '0.12345678901234567', '1e400', '18446744073709551616'],
    });
  });

  it.each(['{"a":1,"a":2}', '{"__proto__":1}', '["\\ud800"]', `${'['.repeat(25)}${']'.repeat(25)}`])(
    'returns the text of %s, which the strict reader refuses',
    (text) => expect(exactJson(text)).toBe(text),
  );

  it('reads JSON that is no object', () => {
    expect(['null', '"x"', '7', ' [] '].map(exactJson)).toEqual([null, 'x', 7, []]);
  });
});
