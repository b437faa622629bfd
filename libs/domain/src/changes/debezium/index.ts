export { ENVELOPE_LIMITS, readDebezium, type DebeziumRecord } from './read-debezium.ts';
export { SKIPPED_RECORDS, type DebeziumRead, type SkippedRecord } from './read-envelope.ts';
