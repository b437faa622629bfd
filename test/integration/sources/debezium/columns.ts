import fc from 'fast-check';

export type Column = {
  readonly name: string;
  /** Its type in SQL. */
  readonly type: string;
  /** Values as PostgreSQL reads them. */
  readonly values: fc.Arbitrary<string | null>;
  /** The readers may write the value in different texts. */
  readonly odd?: true;
  /** Without a schema the value is the same too. */
  readonly plain?: true;
};

const whole = (bits: bigint): fc.Arbitrary<string> =>
  fc.bigInt({ min: -(2n ** (bits - 1n)), max: 2n ** (bits - 1n) - 1n }).map(String);

const digits = (length: number): fc.Arbitrary<string> =>
  fc
    .array(fc.nat({ max: 9 }), { minLength: 1, maxLength: length, size: 'max' })
    .map((list) => BigInt(list.join('')).toString());

const signed = (text: fc.Arbitrary<string>): fc.Arbitrary<string> =>
  fc.tuple(fc.boolean(), text).map(([negative, number]) => (negative ? `-${number}` : number));

const decimal = (before: number, after: number): fc.Arbitrary<string> =>
  signed(fc.tuple(digits(before), digits(after)).map(([integer, fraction]) => `${integer}.${fraction}`));

const double = fc.oneof(
  fc.double({ noNaN: true, noDefaultInfinity: true }).map(String),
  fc.constantFrom('NaN', 'Infinity', '-Infinity', '0.1', '1e300'),
);
const float = fc.oneof(
  fc.float({ noNaN: true, noDefaultInfinity: true }).map((value) => String(Number(value.toPrecision(7)))),
  fc.constantFrom('NaN', 'Infinity', '0.1', '1e30'),
);

/** Years 1 to 9999, with microseconds. */
const moment = fc
  .tuple(
    fc.date({ min: new Date('0001-01-02T00:00:00Z'), max: new Date('9999-12-30T00:00:00Z'), noInvalidDate: true }),
    fc.nat({ max: 999 }),
  )
  .map(([date, micros]) => `${date.toISOString().slice(0, 23)}${String(micros).padStart(3, '0')}`);

/** PostgreSQL holds no zero character, and UTF-8 no half of a surrogate pair. */
const words = fc.string({ unit: 'grapheme', maxLength: 20 }).map((text) => text.replaceAll('\0', ''));

/** Large enough to be stored outside of the row. */
const large = fc.nat().map((number) => `${number} `.repeat(600).slice(0, 3000));

const json = fc
  .oneof(
    fc.jsonValue({ maxDepth: 3 }).map((value) => JSON.stringify(value)),
    large.map((text) => JSON.stringify({ text })),
    fc.constantFrom('{"total": 12.50, "exact": 12345678901234567890.123456789, "n": 1e2}', '{"a": 1, "a": 2}'),
  )
  .filter((text) => !text.includes('\\u0000') && !/\\ud[89a-f]/.test(text));

const listOf = (items: fc.Arbitrary<string>): fc.Arbitrary<string> =>
  fc
    .array(fc.option(items, { freq: 5 }), { maxLength: 4 })
    .map((list) => `{${list.map((item) => item ?? 'NULL').join(',')}}`);
const quoted = (text: string): string => `"${text.replaceAll('\\', '\\\\').replaceAll('"', '\\"')}"`;

const optional = (values: fc.Arbitrary<string>): fc.Arbitrary<string | null> => fc.option(values, { freq: 6 });

/** A column of each kind of type, beside the key `id`. */
export const COLUMNS: readonly Column[] = [
  { name: 'small', type: 'int2', values: optional(whole(16n)), plain: true },
  { name: 'normal', type: 'int4', values: optional(whole(32n)), plain: true },
  { name: 'big', type: 'int8', values: optional(whole(64n)), plain: true },
  { name: 'price', type: 'numeric(20, 4)', values: optional(decimal(16, 4)) },
  { name: 'count', type: 'numeric(30)', values: optional(signed(digits(30))) },
  { name: 'exact', type: 'numeric', values: optional(fc.oneof(decimal(30, 20), signed(digits(40)))) },
  { name: 'single', type: 'float4', values: optional(float) },
  { name: 'double', type: 'float8', values: optional(double) },
  { name: 'yes', type: 'boolean', values: optional(fc.constantFrom('t', 'f')), plain: true },
  { name: 'at', type: 'timestamptz', values: optional(moment.map((text) => `${text}Z`)) },
  { name: 'local', type: 'timestamp', values: optional(moment) },
  { name: 'millis', type: 'timestamp(3)', values: optional(moment) },
  { name: 'day', type: 'date', values: optional(moment.map((text) => text.slice(0, 10))) },
  { name: 'clock', type: 'time', values: optional(moment.map((text) => text.slice(11))) },
  { name: 'clock3', type: 'time(3)', values: optional(moment.map((text) => text.slice(11))) },
  { name: 'uid', type: 'uuid', values: optional(fc.uuid()), plain: true },
  { name: 'words', type: 'text', values: optional(fc.oneof(words, large)), plain: true },
  { name: 'code', type: 'varchar(20)', values: optional(fc.stringMatching(/^[a-z ]{0,20}$/)), plain: true },
  { name: 'fixed', type: 'char(8)', values: optional(fc.stringMatching(/^[a-z]{0,8}$/)), plain: true },
  { name: 'mood', type: 'mood', values: optional(fc.constantFrom('sad', 'fine', 'Größe "x"')), plain: true },
  {
    name: 'positive',
    type: 'positive',
    values: optional(fc.integer({ min: 1, max: 2_147_483_647 }).map(String)),
    plain: true,
  },
  { name: 'tree', type: 'jsonb', values: optional(json) },
  { name: 'doc', type: 'json', values: optional(json) },
  {
    name: 'raw',
    type: 'bytea',
    values: optional(
      fc
        .oneof(
          fc.uint8Array({ maxLength: 20 }),
          large.map((text) => Buffer.from(text)),
        )
        .map((bytes) => `\\x${Buffer.from(bytes).toString('hex')}`),
    ),
  },
  {
    name: 'numbers',
    type: 'int4[]',
    values: optional(
      fc.oneof(
        listOf(whole(32n)),
        large.map((text) => `{${text.trim().replaceAll(' ', ',')}}`),
      ),
    ),
    plain: true,
  },
  {
    name: 'names',
    type: 'text[]',
    values: optional(
      fc.oneof(
        listOf(words.map(quoted)),
        large.map((text) => `{${quoted(text)}}`),
      ),
    ),
    plain: true,
  },
  { name: 'prices', type: 'numeric(10, 2)[]', values: optional(listOf(decimal(7, 2))) },
  { name: 'moments', type: 'timestamptz[]', values: optional(listOf(moment.map((text) => `"${text}Z"`))) },
  { name: 'days', type: 'date[]', values: optional(listOf(moment.map((text) => text.slice(0, 10)))) },
  { name: 'span', type: 'interval', values: optional(fc.constantFrom('1 day', '-3 months 4 hours')), odd: true },
  { name: 'address', type: 'inet', values: optional(fc.constantFrom('10.0.0.1/8', '::1')), odd: true },
  { name: 'bits', type: 'bit(3)', values: optional(fc.constantFrom('101', '000')), odd: true },
  { name: 'range', type: 'int4range', values: optional(fc.constantFrom('[1,5)', 'empty')), odd: true },
  { name: 'cash', type: 'money', values: optional(fc.constantFrom('12.34', '-1')), odd: true },
];

/** Columns whose values may be stored outside of the row, uncompressed. */
const LARGE = ['words', 'tree', 'doc', 'raw', 'numbers', 'names'];

/** Returns the SQL that creates a table with all columns. */
export const tableSql = (table: string, identity: 'FULL' | 'DEFAULT'): string =>
  [
    `CREATE TABLE ${table} (id int PRIMARY KEY, ${COLUMNS.map(({ name, type }) => `${name} ${type}`).join(', ')})`,
    `ALTER TABLE ${table} REPLICA IDENTITY ${identity}`,
    ...LARGE.map((name) => `ALTER TABLE ${table} ALTER COLUMN ${name} SET STORAGE EXTERNAL`),
  ].join('; ');

export const TYPES_SQL = `CREATE TYPE mood AS ENUM ('sad', 'fine', 'Größe "x"'); CREATE DOMAIN positive AS int CHECK (VALUE > 0)`;
