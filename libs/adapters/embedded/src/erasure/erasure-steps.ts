import { PERSONAL_TOPICS } from '@carillon/contracts';
import type { ErasureSteps, FoundEntry, TopicName } from '@carillon/ports';
import type { EmbeddedLog } from '../log/event-log.ts';
import { placeOf } from '../log/places.ts';
import type { Reader } from '../reader.ts';
import type { KeptSums } from '../stores/kept-sums.ts';
import type { Write } from '../writing/protocol.ts';
import { REWRITE, type ErasureWrites } from './erasure-writes.ts';
import { scanRows, type FoundRow } from './scan-rows.ts';

type LogOfFile = Pick<EmbeddedLog, 'partitions' | 'bounds' | 'read' | 'pause'> & {
  /** Number of a partition within the file. */
  idOf(topic: TopicName, partition: number): number;
};

type OtherWork = {
  /** Counts of deliveries that an erasure outdates. */
  readonly sums: Pick<KeptSums, 'writing'>;
  /** Gives others a turn between two pages. */
  readonly pause: () => Promise<unknown>;
};

/** Steps by which the data file is emptied of a person. */
export function createErasureSteps(
  log: LogOfFile,
  reader: Pick<Reader, 'all'>,
  write: Write<ErasureWrites>,
  { sums, pause }: OtherWork,
): ErasureSteps {
  async function apply({ change }: FoundRow): Promise<void> {
    if (change.kind === 'rows') await write('erasure.rows', { bytes: 1024 }, change.writes);
    else if (change.kind === 'delivery') {
      const { row, place } = change;
      const load = { bytes: row.document.length + row.intent.length };
      const counted = { slot: { workspace: row.workspace }, createdAt: row.createdAt };
      await sums.writing([counted], () => write('erasure.delivery', load, row, place));
    } else if (change.kind === 'consents') {
      await write('erasure.consents', { bytes: 4096 }, change.person, change.renamed);
    } else if (change.kind === 'suppression') {
      await write('erasure.suppression', { bytes: 512 }, change.sequence, change.under);
    }
  }

  const entryOf = (row: FoundRow): FoundEntry => ({
    place: row.place,
    key: row.key,
    undecided: row.change.kind === 'undecided' ? row.change.id : null,
    erase: () => apply(row),
  });

  return {
    log,
    topics: PERSONAL_TOPICS,
    pause,
    async *entries(work, moment) {
      for await (const rows of scanRows(reader, work, moment, pause)) yield rows.map(entryOf);
    },
    async eraseRecords({ topic, partition, records, streams }, { now }) {
      const id = log.idOf(topic, partition);
      const bytes = records.reduce((sum, { value }) => sum + value.length + 256, 0);
      await write(
        'erasure.records',
        { bytes, rows: records.length },
        records.map(({ offset, headers, value }) => ({
          place: placeOf(id, offset),
          headers: JSON.stringify(headers),
          value,
        })),
        streams,
      );
      if (topic !== 'carillon.dead-letters') return;
      // Nobody can redrive a letter whose record is gone.
      const writes = records.map(({ offset }) => ({
        sql: `UPDATE dead_letter_rows SET reason = 'erased', receipt = NULL, dismissed_at = coalesce(dismissed_at, ?),
          dismissed_by = coalesce(dismissed_by, 'erasure') WHERE own_partition = ? AND own_offset = ?`,
        values: [now, partition, offset],
      }));
      await write('erasure.rows', { bytes: 128 * writes.length, rows: writes.length }, writes);
    },
    pauseConsumers: () => log.pause(),
    async finish() {
      await write(REWRITE, { bytes: 64 });
    },
    bytesUntil: () => Promise.resolve(null),
  };
}
