import { createHash } from 'node:crypto';
import type { Moment } from '@carillon/domain/deliveries';
import { ERASURE_PLACES, type ErasurePlace } from '@carillon/domain/erasures';
import type { Eraser, ErasureFindings, ErasureWork, TopicName } from '@carillon/ports';
import type { EmbeddedLog } from '../log/event-log.ts';
import { placeOf } from '../log/places.ts';
import type { Reader } from '../reader.ts';
import type { Write } from '../writing/protocol.ts';
import { REWRITE, type ErasureWrites } from './erasure-writes.ts';
import { scanLog, type FoundPage } from './scan-log.ts';
import { scanRows, type FoundRow } from './scan-rows.ts';

/** Collects what was found. */
class Findings {
  readonly #keys: string[] = [];
  readonly #undecided: string[] = [];
  readonly #counts = new Map<ErasurePlace, number>();

  add(place: ErasurePlace, key: string): void {
    this.#keys.push(`${place} ${key}`);
    this.#counts.set(place, (this.#counts.get(place) ?? 0) + 1);
  }

  addUndecided(id: string): void {
    this.#undecided.push(id);
  }

  end(): ErasureFindings {
    const checksum = createHash('sha256');
    for (const key of this.#keys.toSorted()) checksum.update(`${key}\n`);
    const counts = Object.fromEntries(
      ERASURE_PLACES.flatMap((place) => (this.#counts.has(place) ? [[place, this.#counts.get(place)] as const] : [])),
    );
    return { counts, checksum: checksum.digest('hex'), undecided: this.#undecided };
  }
}

type LogOfFile = Pick<EmbeddedLog, 'partitions' | 'bounds' | 'read' | 'pause'> & {
  /** Number of a partition within the file. */
  idOf(topic: TopicName, partition: number): number;
};

/** Empties what the data file holds of a person. `pause` gives others a turn between two pages. */
export function createEraser(
  log: LogOfFile,
  reader: Pick<Reader, 'all'>,
  write: Write<ErasureWrites>,
  pause: () => Promise<unknown>,
): Eraser {
  async function apply({ change }: FoundRow): Promise<void> {
    if (change.kind === 'rows') await write('erasure.rows', { bytes: 1024 }, change.writes);
    else if (change.kind === 'delivery') {
      const { row, place } = change;
      await write('erasure.delivery', { bytes: row.document.length + row.intent.length }, row, place);
    } else if (change.kind === 'consents') {
      await write('erasure.consents', { bytes: 4096 }, change.person, change.renamed);
    } else if (change.kind === 'suppression') {
      await write('erasure.suppression', { bytes: 512 }, change.sequence, change.under);
    }
  }

  async function scanStores(work: ErasureWork, moment: Moment, findings: Findings, isErasing: boolean): Promise<void> {
    for await (const rows of scanRows(reader, work, moment, pause)) {
      for (const row of rows) {
        findings.add(row.place, row.key);
        if (row.change.kind === 'undecided') findings.addUndecided(row.change.id);
        else if (isErasing) await apply(row);
      }
    }
  }

  /** Nobody can redrive a letter whose record is gone. */
  async function dismiss(partition: number, records: FoundPage['records'], { now }: Moment): Promise<void> {
    const writes = records.map(({ record: { offset } }) => ({
      sql: `UPDATE dead_letter_rows SET reason = 'erased', receipt = NULL, dismissed_at = coalesce(dismissed_at, ?),
        dismissed_by = coalesce(dismissed_by, 'erasure') WHERE own_partition = ? AND own_offset = ?`,
      values: [now, partition, offset],
    }));
    await write('erasure.rows', { bytes: 128 * writes.length, rows: writes.length }, writes);
  }

  return {
    async find(work) {
      const findings = new Findings();
      for await (const { records } of scanLog(log, work.judge, pause)) {
        for (const { key } of records) findings.add('log_records', key);
      }
      // The time is unused, because a look writes nothing.
      await scanStores(work, { now: 0, derive: () => '' }, findings, false);
      return findings.end();
    },
    async erase(work, unreadFrom, moment) {
      const findings = new Findings();
      for await (const { topic, partition, records, streams } of scanLog(log, work.judge, pause, unreadFrom)) {
        const id = log.idOf(topic, partition);
        const bytes = records.reduce((sum, { record }) => sum + record.value.length + 256, 0);
        await write(
          'erasure.records',
          { bytes, rows: records.length },
          records.map(({ record: { offset, ...overwritten } }) => ({ ...overwritten, place: placeOf(id, offset) })),
          streams,
        );
        if (topic === 'carillon.dead-letters') await dismiss(partition, records, moment);
        for (const { key } of records) findings.add('log_records', key);
      }
      await scanStores(work, moment, findings, true);
      return findings.end();
    },
    pauseConsumers: () => log.pause(),
    async rewrite() {
      await write(REWRITE, { bytes: 64 });
    },
  };
}
