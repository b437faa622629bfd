import { stringifyJson, type Json } from '@carillon/kernel';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Change } from '../change.ts';
import { exactFloat, exactJson, exactMoment, exactNumber } from '../exact-values.ts';
import { readDebezium } from './read-debezium.ts';

/** A column in the forms of its value: as PostgreSQL writes it, and as Debezium's envelope with a schema has it. */
type Column = { readonly expected: Json; readonly schema: Json; readonly value: Json };

const base64 = (bytes: readonly number[]): string => Buffer.from(bytes).toString('base64');

/** The shortest two's complement, as Java's BigInteger writes it. */
function bytesOf(unscaled: bigint): string {
  let length = 1;
  while (BigInt.asIntN(length * 8, unscaled) !== unscaled) length += 1;
  const hex = BigInt.asUintN(length * 8, unscaled)
    .toString(16)
    .padStart(length * 2, '0');
  return base64([...Buffer.from(hex, 'hex')]);
}

function decimalText(unscaled: bigint, scale: number): string {
  const digits = String(unscaled < 0n ? -unscaled : unscaled).padStart(scale + 1, '0');
  const sign = unscaled < 0n ? '-' : '';
  return scale === 0 ? sign + digits : `${sign}${digits.slice(0, -scale)}.${digits.slice(-scale)}`;
}

const DECIMAL = 'org.apache.kafka.connect.data.Decimal';
const decimal = fc
  .record({
    unscaled: fc
      .string({ unit: fc.integer({ min: 0, max: 9 }).map(String), minLength: 1, maxLength: 40, size: 'max' })
      .chain((digits) => fc.boolean().map((negative) => (negative ? -BigInt(digits) : BigInt(digits)))),
    scale: fc.nat({ max: 20 }),
    form: fc.constantFrom('fixed', 'variable', 'number'),
  })
  .map(({ unscaled, scale, form }): Column => {
    const text = decimalText(unscaled, scale);
    const fixed = { type: 'bytes', name: DECIMAL, parameters: { scale: String(scale) } };
    if (form === 'fixed') return { expected: exactNumber(text), schema: fixed, value: bytesOf(unscaled) };
    if (form === 'number') return { expected: exactNumber(text), schema: fixed, value: JSON.rawJSON(text) as Json };
    return {
      expected: exactNumber(text),
      schema: {
        type: 'struct',
        name: 'io.debezium.data.VariableScaleDecimal',
        fields: [
          { type: 'int32', field: 'scale' },
          { type: 'bytes', field: 'value' },
        ],
      },
      value: { scale, value: bytesOf(unscaled) },
    };
  });

const YEAR_1 = -62_135_596_800_000_000n;
const END_OF_9999 = 253_402_300_799_999_999n;

/** As PostgreSQL writes it: no zeros at the end. */
function momentText(microseconds: bigint): string {
  const within = ((microseconds % 1_000_000n) + 1_000_000n) % 1_000_000n;
  const seconds = new Date(Number((microseconds - within) / 1000n)).toISOString().slice(0, 19).replace('T', ' ');
  return within === 0n ? seconds : `${seconds}.${String(within).padStart(6, '0').replace(/0+$/, '')}`;
}

const moment = fc
  .record({
    microseconds: fc.oneof(
      fc.bigInt({ min: YEAR_1, max: END_OF_9999 }),
      fc.bigInt({ min: YEAR_1 / 1_000_000n, max: END_OF_9999 / 1_000_000n }).map((seconds) => seconds * 1_000_000n),
    ),
    form: fc.constantFrom(
      'MicroTimestamp',
      'NanoTimestamp',
      'Timestamp',
      'ZonedTimestamp',
      'IsoTimestamp',
      'Date',
      'MicroTime',
    ),
  })
  .map(({ microseconds, form }): Column => {
    const name = `io.debezium.time.${form}`;
    const text = momentText(microseconds);
    const [day = '', time = ''] = text.split(' ');
    switch (form) {
      case 'MicroTimestamp':
        return { expected: exactMoment(text), schema: { type: 'int64', name }, value: microseconds };
      case 'NanoTimestamp':
        return microseconds > 9_000_000_000_000_000n || microseconds < -9_000_000_000_000_000n
          ? { expected: 1, schema: { type: 'int32' }, value: 1 }
          : { expected: exactMoment(text), schema: { type: 'int64', name }, value: microseconds * 1000n };
      case 'Timestamp': {
        const milliseconds = (microseconds - (((microseconds % 1000n) + 1000n) % 1000n)) / 1000n;
        return {
          expected: exactMoment(momentText(milliseconds * 1000n)),
          schema: { type: 'int64', name },
          value: milliseconds,
        };
      }
      case 'ZonedTimestamp':
        return {
          expected: exactMoment(`${text}+00`),
          schema: { type: 'string', name },
          value: `${text.replace(' ', 'T')}Z`,
        };
      case 'IsoTimestamp':
        return { expected: exactMoment(text), schema: { type: 'string', name }, value: `${text.replace(' ', 'T')}Z` };
      case 'Date':
        return { expected: day, schema: { type: 'int32', name }, value: Date.parse(day) / 86_400_000 };
      case 'MicroTime': {
        const within = ((microseconds % 86_400_000_000n) + 86_400_000_000n) % 86_400_000_000n;
        return { expected: time, schema: { type: 'int64', name }, value: within };
      }
    }
  });

const bytes = fc.uint8Array({ maxLength: 40 }).map((array): Column => {
  const value = base64([...array]);
  return { expected: value, schema: { type: 'bytes' }, value };
});

const plain = fc.oneof(
  fc.double().map((double): Column => {
    const text = String(double);
    const value = Number.isFinite(double)
      ? (JSON.rawJSON(text.includes('.') ? text : double.toExponential()) as Json)
      : text;
    return { expected: exactFloat(text), schema: { type: 'double' }, value };
  }),
  fc.float({ noNaN: true, noDefaultInfinity: true }).map((float): Column => {
    const shortest = [1, 2, 3, 4, 5, 6, 7, 8, 9]
      .map((digits) => Number(float.toPrecision(digits)))
      .find((short) => [1 - 2 ** -50, 1 + 2 ** -50].every((factor) => Math.fround(short * factor) === float));
    return { expected: (shortest ?? 0) + 0, schema: { type: 'float' }, value: float };
  }),
  fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }).map((integer): Column => {
    return { expected: exactNumber(String(integer)), schema: { type: 'int64' }, value: integer };
  }),
  fc.boolean().map((value): Column => ({ expected: value, schema: { type: 'boolean' }, value })),
  fc
    .string()
    .map((value): Column => ({ expected: value, schema: { type: 'string', name: 'io.debezium.data.Enum' }, value })),
  fc
    .uuid()
    .map((value): Column => ({ expected: value, schema: { type: 'string', name: 'io.debezium.data.Uuid' }, value })),
  fc.json().map((value): Column => ({
    expected: exactJson(value),
    schema: { type: 'string', name: 'io.debezium.data.Json' },
    value,
  })),
);

const column = fc.oneof(decimal, moment, bytes, plain);
const list = fc
  .array(
    decimal.filter(({ schema }) => (schema as { type: string }).type === 'struct'),
    { minLength: 1, maxLength: 4 },
  )
  .map((items): Column => ({
    expected: items.map(({ expected }) => expected),
    schema: { type: 'array', items: items[0]?.schema ?? null },
    value: items.map(({ value }) => value),
  }));
const row = fc.dictionary(fc.stringMatching(/^[a-z_]{1,8}$/), fc.oneof(column, list), { minKeys: 1, maxKeys: 6 });

const SOURCE = { name: 'app', connector: 'postgresql', schema: 'public', table: 'orders', ts_ms: 1, lsn: 1 };

/** Reads the row in an envelope with its schema. */
function readBack(columns: Readonly<Record<string, Column>>): Json {
  const { event, unknown } = readChange(columns);
  expect(unknown).toEqual([]);
  return { ...event };
}

function readChange(columns: Readonly<Record<string, Column>>): Change {
  const fields = Object.entries(columns).map(([field, { schema }]) => ({
    ...(schema as object),
    optional: true,
    field,
  }));
  const after = Object.fromEntries(Object.entries(columns).map(([name, { value }]) => [name, value]));
  const schema = { type: 'struct', fields: [{ type: 'struct', optional: true, field: 'after', fields }] };
  const text = stringifyJson({ schema, payload: { after, source: SOURCE, op: 'c' } });
  const read = readDebezium({ key: null, value: new TextEncoder().encode(text) }, 'bus');
  if (read.kind !== 'change') throw new Error(`${JSON.stringify(read)} of ${text}`);
  return read.read.change;
}

describe('a row in a Debezium message with a schema', () => {
  it('is read to the same values as by the built-in database reader', () => {
    fc.assert(
      fc.property(row, (columns) => {
        expect(readBack(columns)).toEqual(
          Object.fromEntries(Object.entries(columns).map(([name, { expected }]) => [name, expected])),
        );
      }),
      { numRuns: 500 },
    );
  });

  it.each<[string, Json, Json, Json]>([
    [
      'a long decimal that is written as a number, although it could be base64',
      { type: 'bytes', name: DECIMAL, parameters: { scale: '0' } },
      JSON.rawJSON('12345678901234567890') as Json,
      '12345678901234567890',
    ],
    [
      'a decimal of a negative scale',
      { type: 'bytes', name: DECIMAL, parameters: { scale: '-3' } },
      bytesOf(12n),
      12_000,
    ],
    [
      'a timestamp beyond the year 9999',
      { type: 'int64', name: 'io.debezium.time.MicroTimestamp' },
      9_223_000_000_000_000_000n,
      '294235-03-28 04:26:40',
    ],
    [
      'a timestamp before Christ',
      { type: 'int64', name: 'io.debezium.time.MicroTimestamp' },
      -62_135_596_800_000_001n,
      '0001-12-31 23:59:59.999999 BC',
    ],
    [
      'the infinity of a timestamp',
      { type: 'int64', name: 'io.debezium.time.MicroTimestamp' },
      9_223_372_036_825_200_000n,
      'infinity',
    ],
    [
      'the negative infinity of a timestamp',
      { type: 'int64', name: 'io.debezium.time.MicroTimestamp' },
      -9_223_372_036_832_400_000n,
      '-infinity',
    ],
    [
      'the infinity of a timestamp in milliseconds',
      { type: 'int64', name: 'org.apache.kafka.connect.data.Timestamp' },
      9_223_372_036_825_200n,
      'infinity',
    ],
    [
      'a timestamp in microseconds with the digits of infinity in milliseconds',
      { type: 'int64', name: 'io.debezium.time.MicroTimestamp' },
      9_223_372_036_825_200n,
      '2262-04-11T23:47:16.8252',
    ],
    [
      'the infinity of a date in a snapshot',
      { type: 'int32', name: 'io.debezium.time.Date' },
      -622_191_234,
      'infinity',
    ],
    [
      'the infinity of a date in a change',
      { type: 'int32', name: 'io.debezium.time.Date' },
      -2_147_472_692,
      'infinity',
    ],
    [
      'the negative infinity of a date in a snapshot',
      { type: 'int32', name: 'io.debezium.time.Date' },
      -625_821_272,
      '-infinity',
    ],
    [
      'the negative infinity of a date in a change',
      { type: 'int32', name: 'org.apache.kafka.connect.data.Date' },
      -2_147_472_691,
      '-infinity',
    ],
    [
      'days that no database has as a date',
      { type: 'int32', name: 'io.debezium.time.Date' },
      -622_191_235,
      -622_191_235,
    ],
    [
      'the infinities of a list of dates',
      { type: 'array', items: { type: 'int32', name: 'io.debezium.time.Date' } },
      [-622_191_234, -625_821_272, 20_454],
      ['infinity', '-infinity', '2026-01-01'],
    ],
    [
      'the infinities of a list of dates as ISO 8601',
      { type: 'array', items: { type: 'string', name: 'io.debezium.time.IsoDate' } },
      ['+292278994-08-16Z', '+292269055-12-02Z', '-5877611-06-21Z', '-5877611-06-22Z'],
      ['infinity', '-infinity', 'infinity', '-infinity'],
    ],
    [
      'the last and the first date as ISO 8601',
      { type: 'array', items: { type: 'string', name: 'io.debezium.time.IsoDate' } },
      ['+5874897-12-31Z', '-4713-11-24Z'],
      ['5874897-12-31', '4714-11-24 BC'],
    ],
    [
      'the infinities of timestamps as ISO 8601, and a year after 9999',
      { type: 'array', items: { type: 'string', name: 'io.debezium.time.IsoTimestamp' } },
      ['+294247-01-10T04:00:25.2Z', '-290308-12-21T19:59:27.6Z', '+10000-01-01T00:00:00.5Z', '2026-01-01T00:00:00Z'],
      ['infinity', '-infinity', '10000-01-01 00:00:00.5', '2026-01-01T00:00:00'],
    ],
    ['the last date of PostgreSQL', { type: 'int32', name: 'io.debezium.time.Date' }, 2_145_042_905, '5874897-12-31'],
    [
      'the first date of PostgreSQL',
      { type: 'int32', name: 'io.debezium.time.Date' },
      -2_451_545 + 10_957,
      '4714-11-24 BC',
    ],
    [
      'a timestamp with zone beyond the year 9999',
      { type: 'string', name: 'io.debezium.time.ZonedTimestamp' },
      '+294276-12-31T23:59:59.999999Z',
      '294276-12-31 23:59:59.999999+00',
    ],
    [
      'a timestamp with zone before Christ',
      { type: 'string', name: 'io.debezium.time.ZonedTimestamp' },
      '-0043-03-15T12:00:00.000000Z',
      '0044-03-15 12:00:00+00 BC',
    ],
    ['infinity', { type: 'string', name: 'io.debezium.time.ZonedTimestamp' }, 'infinity', 'infinity'],
    [
      'a timestamp of another zone',
      { type: 'string', name: 'io.debezium.time.ZonedTimestamp' },
      '2026-03-29T02:30:00.1200+02:00',
      '2026-03-29T00:30:00.12Z',
    ],
    ['a date as ISO 8601', { type: 'string', name: 'io.debezium.time.IsoDate' }, '2026-03-29Z', '2026-03-29'],
    ['a time as ISO 8601', { type: 'string', name: 'io.debezium.time.IsoTime' }, '00:30:00.120Z', '00:30:00.12'],
    ['a negative time of MySQL', { type: 'int64', name: 'io.debezium.time.MicroTime' }, -5_400_500_000, '-01:30:00.5'],
    ['midnight at the end of a day', { type: 'int64', name: 'io.debezium.time.MicroTime' }, 86_400_000_000, '24:00:00'],
    ['a float with a shorter number midway to the next', { type: 'float' }, 65_189_712, 65_189_712],
    ['a float that few digits name', { type: 'float' }, 9.80908925027372e-45, 1e-44],
    ['a map', { type: 'map', values: { type: 'int32' } }, { a: 1 }, { a: 1 }],
    [
      'JSON that the strict reader refuses',
      { type: 'string', name: 'io.debezium.data.Json' },
      '{"a":1,"a":2}',
      '{"a":1,"a":2}',
    ],
    ['null', { type: 'int32' }, null, null],
  ])('keeps %s', (_title, schema, value, expected) => {
    expect(readBack({ a: { schema, value, expected } })).toEqual({ a: expected });
  });

  it('has no decimal with more digits than the byte limit of a field', () => {
    const schema = { type: 'bytes', name: DECIMAL, parameters: { scale: '2' } };
    const value = base64(Array.from({ length: 27_500 }, () => 77));
    expect(readChange({ a: { schema, value, expected: null } })).toMatchObject({ event: {}, unknown: ['a'] });
  });

  it.each<[Json, Json]>([
    [{ type: 'int32' }, '1'],
    [{ type: 'int32' }, 1.5],
    [{ type: 'int64' }, JSON.rawJSON('9223372036854775808') as Json],
    [{ type: 'double' }, '1.5'],
    [{ type: 'boolean' }, 1],
    [{ type: 'string' }, 1],
    [{ type: 'bytes', name: DECIMAL, parameters: { scale: '2' } }, 'no base64'],
    [{ type: 'bytes', name: DECIMAL, parameters: { scale: '2' } }, true],
    [{ type: 'array', items: { type: 'int32' } }, ['a']],
    [{ type: 'array', items: { type: 'int32' } }, {}],
    [{ type: 'map', values: { type: 'int32' } }, []],
    [{ type: 'struct', fields: [] }, { more: 1 }],
  ])('is refused if %j has the value %j', (schema, value) => {
    expect(() => readBack({ a: { schema, value, expected: null } })).toThrow(/schema_mismatch.*after\.a/);
  });
});
