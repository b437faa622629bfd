import type { Json } from '@carillon/kernel';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { exactNumber } from '../exact-values.ts';
import { readAvroSchema, type AvroType } from './avro-type.ts';
import { missingSchema, readDebezium } from './read-debezium.ts';

const SOURCE = {
  type: 'record',
  name: 'Source',
  'connect.name': 'io.debezium.connector.postgresql.Source',
  fields: [
    { name: 'name', type: 'string' },
    { name: 'schema', type: 'string' },
    { name: 'table', type: 'string' },
    { name: 'ts_ms', type: 'long' },
    { name: 'lsn', type: ['null', 'long'] },
  ],
};
const TYPES = {
  id: 'long',
  total: [
    'null',
    {
      type: 'bytes',
      logicalType: 'decimal',
      scale: 2,
      'connect.name': 'org.apache.kafka.connect.data.Decimal',
      'connect.parameters': { scale: '2' },
    },
  ],
  at: ['null', { type: 'long', 'connect.name': 'io.debezium.time.MicroTimestamp' }],
  rate: ['null', 'float'],
  photo: ['null', 'bytes'],
  tags: ['null', { type: 'array', items: ['null', 'string'] }],
};
const ENVELOPE = {
  type: 'record',
  name: 'Envelope',
  namespace: 'app.public.orders',
  fields: [
    {
      name: 'before',
      type: [
        'null',
        { type: 'record', name: 'Value', fields: Object.entries(TYPES).map(([name, type]) => ({ name, type })) },
      ],
    },
    { name: 'after', type: ['null', 'Value'] },
    { name: 'source', type: SOURCE },
    { name: 'op', type: 'string' },
  ],
};

function integer(value: bigint): number[] {
  let bits = BigInt.asUintN(64, (value << 1n) ^ (value >> 63n));
  const bytes: number[] = [];
  while (bits >= 0x80n) {
    bytes.push(Number(bits & 0x7fn) | 0x80);
    bits >>= 7n;
  }
  return [...bytes, Number(bits)];
}
const sized = (bytes: Iterable<number>): number[] => [...integer(BigInt([...bytes].length)), ...bytes];
const text = (value: string): number[] => sized(new TextEncoder().encode(value));
const some = (bytes: readonly number[]): number[] => [2, ...bytes];
const NONE = [0];

/** Two's complement, the highest byte first. */
function decimal(value: bigint): number[] {
  let length = 1;
  while (BigInt.asIntN(length * 8, value) !== value) length += 1;
  return Array.from({ length }, (_, at) => Number(BigInt.asUintN(8, value >> BigInt(8 * (length - 1 - at)))));
}

type Row = {
  readonly id: bigint;
  readonly cents: bigint;
  readonly at: bigint;
  readonly rate: number;
  readonly photo: Uint8Array;
};
const rowBytes = ({ id, cents, at, rate, photo }: Row): number[] => [
  ...integer(id),
  ...some(sized(decimal(cents))),
  ...some(integer(at)),
  ...some([...new Uint8Array(Float32Array.of(rate).buffer)]),
  ...some(sized(photo)),
  ...some([...integer(2n), ...some(text('a')), ...NONE, 0]),
];
const envelopeBytes = (op: string, before: readonly number[], after: readonly number[], id = 7): Uint8Array =>
  Uint8Array.from(
    [
      [0, 0, 0, 0, id],
      before,
      after,
      [text('app'), text('public'), text('orders'), integer(1_795_226_637_186n), some(integer(26_510_848n))].flat(),
      text(op),
    ].flat(),
  );

const typeOf = (schema: Json): AvroType => {
  const type = readAvroSchema(schema);
  if (type === undefined) throw new Error('no schema');
  return type;
};
const SCHEMAS = new Map([[7, typeOf(ENVELOPE)]]);
const ROW: Row = { id: 1n, cents: 1250n, at: 1_795_226_637_186_120n, rate: 0.1, photo: Uint8Array.of(4, 0xe2) };

describe('a Debezium message (a database change) in Avro', () => {
  it('is read to the exact values of its schema', () => {
    const value = envelopeBytes('u', some(rowBytes({ ...ROW, cents: -1n })), some(rowBytes(ROW)));
    const event = { id: 1, total: 12.5, at: '2026-11-21T02:03:57.18612', rate: 0.1, photo: 'BOI=', tags: ['a', null] };
    expect(readDebezium({ key: null, value }, 'bus', SCHEMAS)).toMatchObject({
      kind: 'change',
      read: {
        change: {
          op: 'update',
          event,
          previous: { ...event, total: -0.01 },
          source: { integration: 'bus', table: 'public.orders', position: '0/1948600' },
        },
      },
    });
  });

  it('keeps every digit of integers and decimals', () => {
    const row = fc.record({
      id: fc.bigInt({ min: -(2n ** 63n), max: 2n ** 63n - 1n }),
      cents: fc.bigInt({ min: -(10n ** 40n), max: 10n ** 40n }),
    });
    fc.assert(
      fc.property(row, ({ id, cents }) => {
        const value = envelopeBytes('c', NONE, some(rowBytes({ ...ROW, id, cents })));
        const read = readDebezium({ key: null, value }, 'bus', SCHEMAS);
        const digits = String(cents < 0n ? -cents : cents).padStart(3, '0');
        const total = exactNumber(`${cents < 0n ? '-' : ''}${digits.slice(0, -2)}.${digits.slice(-2)}`);
        expect(read).toMatchObject({ read: { change: { event: { id: exactNumber(String(id)), total } } } });
      }),
    );
  });

  it('asks for the schema of its id if that schema is not loaded yet', () => {
    const value = envelopeBytes('c', NONE, some(rowBytes(ROW)));
    expect(missingSchema({ key: null, value }, new Map())).toBe(7);
    expect(missingSchema({ key: value, value }, SCHEMAS)).toBeNull();
    expect(missingSchema({ key: null, value: null }, new Map())).toBeNull();
    expect(missingSchema({ key: null, value: new TextEncoder().encode('{}') }, new Map())).toBeNull();
    expect(readDebezium({ key: null, value }, 'bus')).toMatchObject({ fault: { code: 'avro_without_registry' } });
  });

  it.each([
    ['have nothing behind the id', [0, 0, 0, 0, 7]],
    ['have an id that no registry gives', [0, 255, 255, 255, 255, 1]],
    ['have the id 0', [0, 0, 0, 0, 0, 1]],
  ])('asks for no schema if its bytes %s, and is refused', (_title, bytes) => {
    const record = { key: null, value: new Uint8Array(bytes) };
    expect(missingSchema(record, new Map())).toBeNull();
    expect(readDebezium(record, 'bus', SCHEMAS)).toMatchObject({ kind: 'fault' });
  });

  it.each<[string, Uint8Array]>([
    ['whose bytes end too early', envelopeBytes('c', NONE, some(rowBytes(ROW))).subarray(0, 40)],
    ['of a schema that is no Avro', envelopeBytes('c', NONE, some(rowBytes(ROW)), 8)],
  ])('is refused %s', (_title, value) => {
    const read = readDebezium({ key: null, value }, 'bus', new Map([...SCHEMAS, [8, null]]));
    expect(read).toMatchObject({ kind: 'fault', fault: { code: 'schema_mismatch' } });
  });

  it('leaves out columns whose names are forbidden in events, and keeps such a name inside a value as text', () => {
    const names = ['id', 'constructor', '__proto__'].map((name) => ({ name, type: 'long' }));
    const fields = [...names, { name: 'tags', type: { type: 'map', values: 'string' } }];
    const [, after, source, op] = ENVELOPE.fields;
    const row = { name: 'before', type: ['null', { type: 'record', name: 'Value', fields }] };
    const schemas = new Map([[7, typeOf({ ...ENVELOPE, fields: [row, after, source, op] as Json[] })]]);
    const tags = [...integer(1n), ...text('__proto__'), ...text('x'), 0];
    const value = envelopeBytes('c', NONE, some([...integer(1n), ...integer(2n), ...integer(3n), ...tags]));
    const read = readDebezium({ key: null, value }, 'bus', schemas);
    if (read.kind !== 'change') throw new Error(JSON.stringify(read));
    expect(Object.entries(read.read.change.event)).toEqual([
      ['id', 1],
      ['constructor', 2],
      ['__proto__', 3],
      ['tags', '{"__proto__":"x"}'],
    ]);
  });

  it('is read with the _id from its key if it deletes a MongoDB document', () => {
    const source = { ...SOURCE, 'connect.name': 'io.debezium.connector.mongo.Source' };
    const document = ['null', { type: 'string', 'connect.name': 'io.debezium.data.Json' }];
    const fields = [
      { name: 'before', type: document },
      { name: 'after', type: document },
      { name: 'source', type: { ...source, fields: [...source.fields, { name: 'connector', type: 'string' }] } },
      { name: 'op', type: 'string' },
    ];
    const schemas = new Map([[1, typeOf({ type: 'record', name: 'Envelope', fields })]]);
    const named = [...text('app'), ...text('public'), ...text('orders'), ...integer(1n), ...NONE, ...text('mongodb')];
    const value = Uint8Array.from([0, 0, 0, 0, 1, ...NONE, ...NONE, ...named, ...text('d')]);
    const key = Uint8Array.from([0, 0, 0, 0, 2, ...text('{"$oid":"596e275826f08b2730779e1f"}')]);
    expect(missingSchema({ key, value }, schemas)).toBe(2);
    schemas.set(2, typeOf({ type: 'record', name: 'Key', fields: [{ name: 'id', type: 'string' }] }));
    expect(missingSchema({ key, value }, schemas)).toBeNull();
    expect(readDebezium({ key, value }, 'bus', schemas)).toMatchObject({
      read: { change: { op: 'delete', event: { _id: '596e275826f08b2730779e1f' } } },
    });
  });
});
