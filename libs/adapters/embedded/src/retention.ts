import { perTopic, TOPICS } from '@carillon/contracts';
import { durationOr, type Duration, type Instant } from '@carillon/kernel';
import type { TopicName } from '@carillon/ports';
import type { EmbeddedLog } from './log/event-log.ts';
import type { RetentionWrites } from './retention-writes.ts';
import type { Write } from './writing/protocol.ts';

const DAY = 86_400_000;
const ROW_BATCH_SIZE = 1000;

/** How long records and rows are kept. Null: for ever. */
export type RetentionPolicy = {
  readonly topics: Readonly<Record<TopicName, Duration | null>>;
  /** Rows that describe events, duplicates and evaluations; of fields, those not seen for so long. */
  readonly readModels: Duration | null;
  /** Users who left a cohort: what platforms may still repeat of them is not older. */
  readonly leftCohorts: Duration | null;
};

/** How long records are kept whose kind says `30d` or `forever`. */
const keptFor = (retention: string): Duration | null =>
  retention === 'forever' ? null : durationOr(retention, Number.POSITIVE_INFINITY);

/**
 * Thirty days for what carries events and what was made of them; configuration, consents and audit for ever. What a person may
 * still have to look into (dead letters, outcomes, receipts) stays until a policy says otherwise. The ledger is not in
 * here at all: who was told what outlives the log.
 */
export const DEFAULT_RETENTION: RetentionPolicy = {
  topics: perTopic(({ retention, embeddedRetention }) => keptFor(embeddedRetention ?? retention)),
  readModels: 30 * DAY,
  leftCohorts: 30 * DAY,
};

export type Removed = { readonly records: number; readonly rows: number };

/** Removes what is past its time, in small writes between which everybody else has their turn. */
export async function applyRetention(
  log: Pick<EmbeddedLog, 'trim'>,
  write: Write<RetentionWrites>,
  now: Instant,
  policy: RetentionPolicy,
): Promise<Removed> {
  let records = 0;
  for (const topic of TOPICS) {
    const kept = policy.topics[topic];
    if (kept !== null) records += await log.trim(topic, now - kept);
  }
  let rows = 0;
  const tables = [
    ['retention.events', policy.readModels],
    ['retention.duplicates', policy.readModels],
    ['retention.evaluations', policy.readModels],
    ['retention.fields', policy.readModels],
    // One that has ended is held by nobody.
    ['retention.leases', 0],
    ['retention.leftCohorts', policy.leftCohorts],
    // As long as the records that they speak of: nothing that is still on the log is asked or resolved again.
    ['retention.tasks', policy.topics['carillon.triggers']],
    ['retention.claims', policy.topics['carillon.lookups']],
  ] as const;
  for (const [name, kept] of tables) {
    let last = kept === null ? 0 : ROW_BATCH_SIZE;
    while (kept !== null && last === ROW_BATCH_SIZE) {
      last = await write(name, { bytes: 64, rows: ROW_BATCH_SIZE }, now - kept, ROW_BATCH_SIZE);
      rows += last;
    }
  }
  return { records, rows };
}
