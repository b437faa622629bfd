import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  type AvroRecordCodecs,
  createRecordCodecs,
  incompatibility,
  LOG_RECORDS,
  type LogRecordKind,
  RECORD_SCHEMAS,
} from '@carillon/contracts';
import { type Json, stringifyJson } from '@carillon/kernel';
import avro from 'avsc';
import fc, { type Arbitrary } from 'fast-check';
import { beforeAll, describe, expect, test } from 'vitest';
import { memoryRegistry } from './support/memory-registry.ts';
import { intents, lookups, outcomes, RECORDS } from './support/records.ts';

const examples = join(import.meta.dirname, '../../../schemas/examples');
const kinds = Object.entries(LOG_RECORDS).map(
  ([kind, { name }]) => [kind as LogRecordKind, name, RECORDS[kind as LogRecordKind]] as const,
);

const REASONS = /^(not_framed|unknown_schema|not_avro|invalid_record)$/;
const asText = (value: unknown): string => stringifyJson(value as Json);
const avroOf = (schema: string): avro.Type => avro.Type.forSchema(JSON.parse(schema) as avro.Schema, { registry: {} });
const framed = (id: number, body: Uint8Array): Uint8Array => {
  const bytes = new Uint8Array(5 + body.length);
  new DataView(bytes.buffer).setUint32(1, id);
  bytes.set(body, 5);
  return bytes;
};

let codecs: AvroRecordCodecs;
beforeAll(async () => {
  codecs = await createRecordCodecs(memoryRegistry(), Date.now);
});

describe.each(kinds)('a record of kind %s', (kind, folder, records) => {
  const codec = () =>
    codecs[kind] as {
      encode(record: unknown): Uint8Array;
      decode(bytes: Uint8Array): ReturnType<AvroRecordCodecs['intent']['decode']>;
    };
  const own = avroOf(RECORD_SCHEMAS[kind].current);
  const hasExamples = existsSync(join(examples, folder));
  const ownId = () => new DataView(codec().encode(fc.sample<unknown>(records, 1)[0]).buffer).getUint32(1);

  const isUnderstood = (text: string): boolean => {
    let value: unknown;
    try {
      value = own.fromString(text);
    } catch {
      return false;
    }
    return codec().decode(framed(ownId(), own.toBuffer(value))).ok;
  };

  test('reads back what it wrote', () => {
    fc.assert(
      fc.property(records as Arbitrary<unknown>, (record) => {
        const back = codec().decode(codec().encode(record));
        expect(back.ok ? asText(back.value) : back.error.detail).toBe(asText(record));
      }),
    );
  });

  test('is refused quickly with a reason if bytes were cut, changed or added', () => {
    fc.assert(
      fc.property(records as Arbitrary<unknown>, fc.nat(), fc.uint8Array({ maxLength: 12 }), (record, place, junk) => {
        const bytes = codec().encode(record);
        const at = place % bytes.length;
        const cut = bytes.slice(0, at);
        const changed = Uint8Array.from([...cut, ...junk, ...bytes.slice(at + junk.length)]);
        for (const bad of [cut, changed, Uint8Array.from([...bytes, ...junk, 1])]) {
          const read = codec().decode(bad);
          expect(read.ok ? 'not_avro' : read.error.reason).toMatch(REASONS);
        }
        expect(codec().decode(cut).ok).toBe(false);
      }),
      { numRuns: 300 },
    );
  });

  test('does not read arbitrary bytes under its own schema', () => {
    const id = ownId();
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 64 }), (body) => {
        expect(codec().decode(framed(id, body)).ok).toBe(false);
      }),
      { numRuns: 500 },
    );
  });

  test('is refused if a field without default is missing, or a value has another type', () => {
    const { fields } = JSON.parse(RECORD_SCHEMAS[kind].current) as { fields: { name: string; default?: unknown }[] };
    const [sample] = fc.sample<unknown>(records, 1);
    const bytes = codec().encode(sample);
    const wire = JSON.parse(own.toString(own.fromBuffer(Buffer.from(bytes.subarray(5))))) as Record<string, unknown>;
    expect(isUnderstood(JSON.stringify(wire))).toBe(true);
    for (const { name, ...field } of fields) {
      const { [name]: _removed, ...rest } = wire;
      if (!('default' in field)) expect(isUnderstood(JSON.stringify(rest)), `without ${name}`).toBe(false);
      expect(isUnderstood(JSON.stringify({ ...wire, [name]: { other: 1 } })), `another ${name}`).toBe(false);
    }
  });

  const examplesOf = (verdict: string): readonly { file: string; understood: boolean }[] =>
    readdirSync(join(examples, folder, verdict)).map((file) => ({
      file,
      understood: isUnderstood(readFileSync(join(examples, folder, verdict, file), 'utf8')),
    }));

  test.runIf(hasExamples)('accepts every example that schemas/ calls valid', () => {
    const shown = examplesOf('valid');
    expect(shown.length).toBeGreaterThan(0);
    expect(shown.filter(({ understood }) => !understood)).toEqual([]);
  });

  test.runIf(hasExamples)('rejects every example that schemas/ calls invalid', () => {
    const shown = examplesOf('invalid');
    expect(shown.length).toBeGreaterThan(0);
    expect(shown.filter(({ understood }) => understood)).toEqual([]);
  });

  test('has examples for every released version, and is read in each', () => {
    expect(hasExamples || RECORD_SCHEMAS[kind].released.length === 0).toBe(true);
    const faults = RECORD_SCHEMAS[kind].released.map(({ schema }) =>
      incompatibility(RECORD_SCHEMAS[kind].current, schema),
    );
    expect(faults.filter((fault) => fault !== null)).toEqual([]);
  });
});

/** Records that other programs write. */
const FOREIGN = ['debezium'];

test('every folder of examples is named after a record', () => {
  const names = [...kinds.map(([, name]) => name), ...FOREIGN];
  expect(readdirSync(examples).filter((folder) => !names.includes(folder))).toEqual([]);
});

describe('the codecs', () => {
  test('frame a record as a zero byte, the id big-endian, then Avro', async () => {
    const registry = memoryRegistry(0x01020304);
    const { outcome } = await createRecordCodecs(registry, Date.now);
    const bytes = outcome.encode(fc.sample(outcomes, 1)[0]!);
    const id = 0x01020304 + registry.texts.indexOf(RECORD_SCHEMAS.outcome.current);
    expect(Array.from(bytes.slice(0, 5))).toEqual([0, 1, 2, 3, id & 0xff]);
  });

  test.each(['intent', 'trigger', 'lookup'] as const)(
    'write a %s of a sending job so that a reader without that field reads the rest',
    (kind) => {
      const withoutField = (_name: string, value: unknown): unknown =>
        Array.isArray(value) ? value.filter((field: { name?: string } | null) => field?.name !== 'sent_by') : value;
      const earlier = JSON.stringify(JSON.parse(RECORD_SCHEMAS[kind].current, withoutField));
      expect(earlier).not.toContain('sent_by');
      expect(incompatibility(earlier, RECORD_SCHEMAS[kind].current)).toBeNull();
      expect(incompatibility(RECORD_SCHEMAS[kind].current, earlier)).toBeNull();
    },
  );

  test('keep addresses, person ids and variables only in the personal part', () => {
    const secret = 'ada@example.com';
    const [sample] = fc.sample(intents, 1);
    const bytes = codecs.intent.encode({
      ...sample!,
      to: secret,
      person: secret,
      slot: { ...sample!.slot, uniqueId: secret },
      variables: { customer: secret },
    });
    const wire = avroOf(RECORD_SCHEMAS.intent.current).fromBuffer(Buffer.from(bytes.subarray(5))) as object;
    expect(JSON.stringify({ ...wire, personal: null })).not.toContain(secret);
  });

  test('keep lookup ids and a partner’s answers only in the personal part', () => {
    const secret = 'ada@example.com';
    const [sample] = fc.sample(lookups, 1);
    const trigger = { ...sample!.trigger, userIds: [secret], event: { to: secret } };
    const item = { userId: secret, to: { email: secret, phone: null, token: null }, variables: { name: secret } };
    const problem = { kind: 'extra' as const, index: 0, userId: secret, detail: secret };
    for (const [kind, bytes] of [
      ['trigger', codecs.trigger.encode(trigger)],
      ['lookup', codecs.lookup.encode({ ...sample!, trigger, items: [item], problems: [problem] })],
    ] as const) {
      const wire = avroOf(RECORD_SCHEMAS[kind].current).fromBuffer(Buffer.from(bytes.subarray(5))) as object;
      expect(JSON.stringify({ ...wire, personal: null })).not.toContain(secret);
    }
  });

  test('read an old configuration change without an origin as the owner’s, and unknown values as known ones', async () => {
    const registry = memoryRegistry();
    const { configuration } = await createRecordCodecs(registry, Date.now);
    const [released] = RECORD_SCHEMAS.configuration.released;
    const old = { id: 'req_1', at: '2026-01-01T00:00:00Z', changes: [], personal: Buffer.from('{"author":"owner"}') };
    const idOf = (schema: string): Promise<number> => registry.register('carillon.config-value', schema);
    const ofOld = framed(await idOf(released!.schema), avroOf(released!.schema).toBuffer(old));
    await configuration.learn(ofOld);
    expect(configuration.decode(ofOld)).toMatchObject({
      ok: true,
      value: { by: { actor: { kind: 'cli', id: 'owner' }, origin: 'cli', message: null, requestId: null } },
    });
    const { current } = RECORD_SCHEMAS.configuration;
    const words = { actor_kind: 'robot', actor_id: 'rob_1', origin: 'telepathy', request_id: null };
    const ofLater = framed(await idOf(current), avroOf(current).toBuffer({ ...old, ...words }));
    expect(configuration.decode(ofLater)).toMatchObject({
      ok: true,
      value: { by: { actor: { kind: 'system', id: 'rob_1' }, origin: 'api' } },
    });
  });

  test('do not know a later schema until they learn it', async () => {
    const registry = memoryRegistry();
    const { intent } = await createRecordCodecs(registry, Date.now);
    const schema = JSON.parse(RECORD_SCHEMAS.intent.current) as { fields: object[] };
    schema.fields.unshift({ name: 'added_later', type: 'string', default: '' });
    const text = JSON.stringify(schema);
    const record = fc.sample(intents, 1)[0]!;
    const now = avroOf(RECORD_SCHEMAS.intent.current).fromBuffer(
      Buffer.from(intent.encode(record).subarray(5)),
    ) as object;
    const body = avroOf(text).toBuffer({ ...now, added_later: 'x' });
    const bytes = framed(await registry.register('carillon.intents-value', text), body);

    expect(intent.decode(bytes)).toMatchObject({ ok: false, error: { reason: 'unknown_schema' } });
    expect(await intent.learn(bytes)).toBe(true);
    expect(intent.decode(bytes)).toMatchObject({ ok: true, value: { id: record.id } });
  });

  test('return false if nobody knows the schema', async () => {
    expect(await codecs.intent.learn(framed(999_999, new Uint8Array(3)))).toBe(false);
  });

  test('query the registry once for an unknown schema, and again after a minute', async () => {
    const registry = memoryRegistry();
    const asked: number[] = [];
    const counting = {
      ...registry,
      schema: (id: number) => {
        asked.push(id);
        return registry.schema(id);
      },
    };
    let now = 0;
    const { intent } = await createRecordCodecs(counting, () => now);
    const bytes = framed(999_999, new Uint8Array(3));
    for (let again = 0; again < 5; again += 1) expect(await intent.learn(bytes)).toBe(false);
    expect(asked).toEqual([999_999]);
    now += 60_000;
    expect(await intent.learn(bytes)).toBe(false);
    expect(asked).toEqual([999_999, 999_999]);
  });

  test('remember a bounded number of unknown schemas', async () => {
    let asked = 0;
    const registry = memoryRegistry();
    const counting = { ...registry, schema: async () => ((asked += 1), null) };
    const { intent } = await createRecordCodecs(counting, () => 0);
    for (let id = 0; id < 1_500; id += 1) await intent.learn(framed(1_000_000 + id, new Uint8Array(3)));
    expect(asked).toBe(1_500);
    await intent.learn(framed(1_001_499, new Uint8Array(3)));
    expect(asked).toBe(1_500);
    await intent.learn(framed(1_000_000, new Uint8Array(3)));
    expect(asked).toBe(1_501);
  });

  test('do not report a record as unknown while the registry is unavailable', async () => {
    const registry = memoryRegistry();
    let away = true;
    const leaving = {
      ...registry,
      schema: (id: number) => (away ? Promise.reject(new Error('away')) : registry.schema(id)),
    };
    const { intent } = await createRecordCodecs(leaving, () => 0);
    await expect(intent.learn(framed(999_999, new Uint8Array(3)))).rejects.toThrow('away');
    away = false;
    expect(await intent.learn(framed(999_999, new Uint8Array(3)))).toBe(false);
  });

  test('refuse a list that claims more items than there are bytes instead of looping over it', () => {
    const bytes = codecs.evaluation.encode({
      partition: 0,
      from: 0,
      to: 0,
      configNumber: 0,
      events: 0,
      intents: 0,
      triggers: 0,
      late: 0,
      duplicates: 0,
      deadLetters: 0,
      repeated: 0,
      rules: [],
      at: 0,
    });
    const at = 5 + 11;
    const huge = [0xfe, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x0f];
    const bad = Uint8Array.from([...bytes.slice(0, at), ...huge, ...bytes.slice(at + 1)]);
    expect(codecs.evaluation.decode(bad)).toMatchObject({ ok: false, error: { reason: 'not_avro' } });
  });
});

test('a change that removes a field without default from the reader is detected as incompatible', () => {
  const current = '{"type":"record","name":"A","fields":[{"name":"a","type":"string"},{"name":"b","type":"string"}]}';
  expect(
    incompatibility(current, '{"type":"record","name":"A","fields":[{"name":"a","type":"string"}]}'),
  ).not.toBeNull();
});
