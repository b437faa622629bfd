export { readAvroSchemaText, type AvroType } from './avro-type.ts';
export {
  ENVELOPE_LIMITS,
  missingSchema,
  readDebezium,
  type AvroSchemas,
  type DebeziumRecord,
} from './read-debezium.ts';
export { SKIPPED_RECORDS, type DebeziumRead, type SkippedRecord } from './read-envelope.ts';
