import type { Instant } from '@carillon/kernel';
import { RELEASED_SCHEMAS } from '../generated/released-schemas.generated.ts';
import { type Codec, createCodec, type RecordSchema, type SchemaIds } from './codec.ts';
import { LOG_RECORDS, type LogRecordKind, type LogRecords } from './log-records.ts';
import type { RecordKind } from './record-kind.ts';
import { withoutDoc } from './without-doc.ts';

/** The port's RecordCodecs, each with `learn` for records that a newer program wrote. */
export type AvroRecordCodecs = { readonly [Kind in LogRecordKind]: Codec<LogRecords[Kind]> };

type AnyKind = RecordKind<never, unknown>;
const RECORDS = Object.entries(LOG_RECORDS) as unknown as readonly (readonly [LogRecordKind, AnyKind])[];

/** The subject of each record's schemas in the registry, its schema of today and those of all releases. */
export const RECORD_SCHEMAS = Object.fromEntries(
  RECORDS.map(([kind, { name, topic, schema }]): [LogRecordKind, RecordSchema] => {
    const current = JSON.stringify(withoutDoc(schema));
    return [kind, { subject: `${topic}-value`, current, released: RELEASED_SCHEMAS[name] ?? [] }];
  }),
) as Readonly<Record<LogRecordKind, RecordSchema>>;

/** Registers every schema, today's and all released ones, then returns the codecs, which need no registry from then on. */
export async function createRecordCodecs(registry: SchemaIds, now: () => Instant): Promise<AvroRecordCodecs> {
  const codecs: [LogRecordKind, Codec<never>][] = [];
  for (const [kind, shape] of RECORDS) {
    codecs.push([kind, await createCodec(registry, RECORD_SCHEMAS[kind], shape, now)]);
  }
  return Object.fromEntries(codecs) as unknown as AvroRecordCodecs;
}
