import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { formatTraceparent, isSampled, parseTraceparent, readTraceparent } from './traceparent.ts';

const hex = (length: number) =>
  fc
    .array(fc.constantFrom(...'0123456789abcdef'.split('')), { minLength: length, maxLength: length })
    .map((digits) => digits.join(''));
const notZero = (length: number) => hex(length).filter((text) => !/^0+$/.test(text));
const contexts = fc.record({ traceId: notZero(32), spanId: notZero(16), sampled: fc.boolean() });

describe('traceparent', () => {
  it('reads what it writes', () => {
    fc.assert(
      fc.property(contexts, (context) => {
        const text = formatTraceparent(context);
        expect(text).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-0[01]$/);
        expect(parseTraceparent(text)).toEqual(context);
        expect(isSampled(text)).toBe(context.sampled);
      }),
    );
  });

  it('takes the sampled bit from any flags, and reads the known part of later versions', () => {
    fc.assert(
      fc.property(contexts, hex(2), hex(2), fc.string(), ({ traceId, spanId }, version, flags, rest) => {
        const sampled = Number.parseInt(flags, 16) % 2 === 1;
        const core = `${version}-${traceId}-${spanId}-${flags}`;
        const expected = version === 'ff' ? undefined : { traceId, spanId, sampled };
        expect(parseTraceparent(core)).toEqual(expected);
        const longer = parseTraceparent(`${core}-${rest.replaceAll(/[\n\r\u2028\u2029]/g, '')}`);
        expect(longer).toEqual(version === '00' ? undefined : expected);
      }),
    );
  });

  it('refuses every text that differs from the form in one place', () => {
    fc.assert(
      fc.property(contexts, fc.nat(54), fc.string({ minLength: 1, maxLength: 1 }), (context, at, other) => {
        fc.pre(!/[0-9a-f-]/.test(other));
        const text = formatTraceparent(context);
        expect(parseTraceparent(text.slice(0, at) + other + text.slice(at + 1))).toBeUndefined();
        expect(parseTraceparent(text.slice(0, at))).toBeUndefined();
      }),
    );
  });

  it('refuses text that is not a traceparent', () => {
    fc.assert(fc.property(fc.string(), (text) => parseTraceparent(text) === undefined));
    const [trace, span] = ['a'.repeat(32), 'b'.repeat(16)];
    for (const text of [
      null,
      undefined,
      '',
      `00-${'0'.repeat(32)}-${span}-01`,
      `00-${trace}-${'0'.repeat(16)}-01`,
      `ff-${trace}-${span}-01`,
      `00-${trace}-${span}-01-x`,
      `00-${trace.toUpperCase()}-${span}-01`,
      ` 00-${trace}-${span}-01`,
      `00-${trace}-${span}-01\n`,
    ]) {
      expect(parseTraceparent(text), String(text)).toBeUndefined();
    }
  });
});

const TRACE = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
it.each([
  [TRACE, TRACE],
  [`01${TRACE.slice(2)}-more`, TRACE],
  [`01${TRACE.slice(2)}-${'x'.repeat(512)}`, null],
  [`${TRACE}-more`, null],
  [`ff${TRACE.slice(2)}`, null],
  [TRACE.toUpperCase(), null],
  ['00-00000000000000000000000000000000-b7ad6b7169203331-01', null],
  ['00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01', null],
  ['', null],
  [null, null],
])('traceparent %j is read as %j', (header, taken) => {
  expect(readTraceparent(header)).toBe(taken);
});
