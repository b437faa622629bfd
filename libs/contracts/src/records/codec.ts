import { err, messageOf, ok, type Duration, type Instant, type Result } from '@carillon/kernel';
import avro, { type Type } from 'avsc';
import { boundedLists } from './bounded-lists.ts';
import { type DecodeFault, frame, unframe } from './framing.ts';
import type { RecordKind } from './record-kind.ts';

/** The part of the schema registry that the codecs need; the port of that name fits. */
export type SchemaIds = {
  register(subject: string, schema: string): Promise<number>;
  schema(id: number): Promise<string | null>;
};

/** The schemas of one kind of record. */
export type RecordSchema = {
  readonly subject: string;
  readonly current: string;
  /** Older first. All of them stay readable, so that the log outlives the program that wrote it. */
  readonly released: readonly { readonly version: string; readonly schema: string }[];
};

export class InvalidRecord extends Error {}

export type Codec<Record> = {
  encode(record: Record): Uint8Array;
  decode(bytes: Uint8Array): Result<Record, DecodeFault>;
  /**
   * Makes the schema of these bytes known, where the registry has it: a newer program may have written them. Rejects
   * where the registry cannot be asked.
   */
  learn(bytes: Uint8Array): Promise<boolean>;
};

const parseSchema = (schema: string): Type => avro.Type.forSchema(JSON.parse(schema) as avro.Schema, { registry: {} });
type Reader = (body: Buffer) => unknown;

/** A reader of what `writer` wrote, as if `current` had written it. Throws where the two do not fit together. */
function readerOf(current: Type, writer: Type): Reader {
  const bounded = boundedLists(writer);
  const resolver = writer.equals(current) ? undefined : current.createResolver(writer);
  return (body) => {
    bounded(body);
    return current.fromBuffer(body, resolver) as unknown;
  };
}

/** Returns why the current schema cannot read records of the `older` schema. Null if it can. */
export function incompatibility(current: string, older: string): string | null {
  try {
    readerOf(parseSchema(current), parseSchema(older));
    return null;
  } catch (error) {
    return messageOf(error);
  }
}

/** How long nobody is asked again for a schema that could not be learned, and how many such are remembered. */
const UNKNOWN_FOR: Duration = 60_000;
const MAX_UNKNOWN = 1_000;

/** Ids of schemas that could not be learned. Broken records may name any of four thousand million. */
function createUnknowns(now: () => Instant) {
  const since = new Map<number, Instant>();
  return {
    has(id: number): boolean {
      const at = since.get(id);
      return at !== undefined && now() - at < UNKNOWN_FOR;
    },
    add(id: number): void {
      since.delete(id);
      since.set(id, now());
      const [oldest] = since.keys();
      if (since.size > MAX_UNKNOWN && oldest !== undefined) since.delete(oldest);
    },
  };
}

/** Registers the schema and every released one, oldest first, and makes a codec that reads what any of them wrote. */
export async function createCodec<Record, Wire>(
  registry: SchemaIds,
  schema: RecordSchema,
  shape: Pick<RecordKind<Record, Wire>, 'write' | 'read'>,
  now: () => Instant,
): Promise<Codec<Record>> {
  const type = parseSchema(schema.current);
  const readers = new Map<number, Reader>();
  for (const older of schema.released) {
    const id = await registry.register(schema.subject, older.schema);
    readers.set(id, readerOf(type, parseSchema(older.schema)));
  }
  const ownId = await registry.register(schema.subject, schema.current);
  readers.set(ownId, readerOf(type, type));

  const decode = (bytes: Uint8Array): Result<Record, DecodeFault> => {
    const framed = unframe(bytes);
    if (!framed.ok) return framed;
    const { id, body } = framed.value;
    const reader = readers.get(id);
    if (!reader) return err({ reason: 'unknown_schema', detail: `no schema ${id} of ${schema.subject} is known here` });
    let wire: unknown;
    try {
      wire = reader(body);
    } catch (error) {
      return err({ reason: 'not_avro', detail: `not a record of schema ${id}: ${messageOf(error)}` });
    }
    try {
      return ok(shape.read(wire as Wire));
    } catch (error) {
      return err({ reason: 'invalid_record', detail: messageOf(error) });
    }
  };

  const unknowns = createUnknowns(now);
  const learn = async (bytes: Uint8Array): Promise<boolean> => {
    const framed = unframe(bytes);
    if (!framed.ok) return false;
    const { id } = framed.value;
    if (readers.has(id)) return true;
    if (unknowns.has(id)) return false;
    const found = await registry.schema(id);
    if (found === null || incompatibility(schema.current, found) !== null) {
      unknowns.add(id);
      return false;
    }
    readers.set(id, readerOf(type, parseSchema(found)));
    return true;
  };

  return { encode: (record) => frame(ownId, type.toBuffer(shape.write(record))), decode, learn };
}
