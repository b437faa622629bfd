import { z } from 'zod';
import { next, nullable, pageOf, time } from './fields.ts';
import { open } from './privacy.ts';

const problem = {
  reason: open(z.string()).describe('Code of the cause, such as `slot_gone`'),
  sentence: open(z.string()).describe('What is wrong and what ends it'),
  fix: nullable(open(z.string())).describe('SQL or configuration line that ends it'),
};

/** A table or topic that a stream names. */
export const sourceTableBody = z
  .object({
    table: open(z.string()).describe('`schema.table`, or the topic'),
    since: nullable(time).describe('Since when its changes or records are read'),
    problem: nullable(z.object(problem)).describe('Why it is not read'),
    lag_records: nullable(z.number()).describe('Records of the topic that are not read yet. Null for a table'),
    gap: nullable(open(z.string())).describe('Which of its changes were not read after it had been read, in words'),
  })
  .meta({ id: 'SourceTable' });

/** A source of a workspace and how it is. */
export const sourceBody = z
  .object({
    workspace: open(z.string()),
    name: open(z.string()).describe('Name of the integration'),
    kind: open(z.string()),
    state: z.enum(['running', 'waiting', 'stopped', 'leaving']),
    reason: nullable(open(z.string())).describe('Why it waits or stopped'),
    sentence: open(z.string()).describe('Its state in words'),
    fix: nullable(open(z.string())).describe('SQL, command or configuration line that ends the state'),
    since: time.describe('Since when it is in this state'),
    lag_seconds: nullable(z.number()).describe('Seconds between now and `read_until`. 0 if nothing is unread.'),
    lag_bytes: nullable(z.number()).describe('Bytes of the WAL that are not read yet. Null for Kafka'),
    lag_records: nullable(z.number()).describe(
      'Records of the topics that are not read yet; of a stopped source all that they held when it stopped. Null for PostgreSQL',
    ),
    last_change_at: nullable(time),
    read_until: nullable(time).describe(
      'Everything up to this time was read; of topics, no newer record was. Null if nothing was. `from` of a reset',
    ),
    continues_at: nullable(z.enum(['slot', 'now', 'oldest'])).describe(
      'Where a reset continues. Null if it cannot be reset',
    ),
    span: nullable(open(z.string())).describe('What a reset passes over, in words. Null if it cannot be reset'),
    span_at_end: nullable(open(z.string())).describe(
      'The same for a reset that continues at the end of the topics (`at: end`), which ends the state `schema_unknown` too. Null for PostgreSQL',
    ),
    reset_requested_at: nullable(time).describe('When a person requested a reset that is still pending'),
    streams: z.array(open(z.string())).describe('Streams that read it'),
    tables: z.array(sourceTableBody),
  })
  .meta({ id: 'Source' });
export const sourcePage = pageOf(sourceBody).meta({ id: 'SourcePage' });

/** Body of a reset. */
export const sourceResetRequest = z
  .strictObject({
    reason: z.string().trim().min(1).max(500).describe('Why changes may be passed over. The audit log keeps it'),
    from: nullable(time).describe('`read_until` as it was shown'),
    at: z
      .enum(['oldest', 'end'])
      .optional()
      .describe(
        'Where a Kafka source continues: at the oldest record of its topics, or at their end. Defaults to oldest',
      ),
    gone: z
      .boolean()
      .optional()
      .describe('For a source that leaves: its slot is dropped, or its database is gone. Defaults to false'),
  })
  .meta({ id: 'SourceResetRequest' });

/** Tables of the database behind an integration. */
export const databaseTablesBody = z
  .object({
    items: z.array(
      z.object({
        table: open(z.string()),
        columns: z.array(z.object({ name: open(z.string()), type: open(z.string()), key: z.boolean() })),
        identity: z
          .enum(['full', 'key', 'nothing'])
          .describe('What is sent of the row before an update: all, its key, or no UPDATE may be published'),
        problem: nullable(z.object(problem)).describe('Why it cannot be read'),
      }),
    ),
    next,
    problem: nullable(z.object(problem)).describe('Why the tables could not be read. Null if they were'),
  })
  .meta({ id: 'DatabaseTables' });

/** Topics of the Kafka cluster behind an integration. */
export const kafkaTopicsBody = z
  .object({
    items: z.array(
      z.object({
        topic: open(z.string()),
        partitions: z.number(),
        problem: nullable(z.object(problem)).describe('Why it cannot be read'),
      }),
    ),
    next,
    problem: nullable(z.object(problem)).describe('Why the topics could not be read. Null if they were'),
  })
  .meta({ id: 'KafkaTopics' });

export type SourceBody = z.infer<typeof sourceBody>;
export type SourcePage = z.infer<typeof sourcePage>;
export type SourceResetRequest = z.infer<typeof sourceResetRequest>;
export type KafkaTopicsBody = z.infer<typeof kafkaTopicsBody>;
export type DatabaseTablesBody = z.infer<typeof databaseTablesBody>;
