import {
  type Delivery,
  type DeliverySettings,
  type Moment,
  leaseRanOut,
  moveTo,
  operatorCancel,
  RESTORE,
} from '@carillon/domain/deliveries';
import type { DigestHead } from '@carillon/domain/digests';
import type { JobId } from '@carillon/kernel';
import type { Reader } from '../reader.ts';
import type { Statements } from '../statements.ts';
import { readDelivery, rewriteDelivery } from './documents.ts';

/** Where what a restore called off stands, by the topic whose records cause it. */
const TABLES = { 'carillon.events': 'called_off', 'carillon.cohorts': 'called_off_cohorts' } as const;

export const readCalledOff = (reader: Pick<Reader, 'all'>, topic: keyof typeof TABLES): ReadonlyMap<number, number> =>
  new Map(
    (reader.all(`SELECT partition, below FROM ${TABLES[topic]}`) as { partition: number; below: number }[]).map(
      ({ partition, below }) => [partition, below],
    ),
  );

export const readCalledOffJobs = (reader: Pick<Reader, 'all'>): ReadonlySet<JobId> =>
  new Set((reader.all('SELECT job FROM called_off_jobs') as { job: JobId }[]).map(({ job }) => job));

/**
 * Settings that leave calls running at the backup in doubt, whatever the notification configures: nothing is sent
 * again.
 */
const HELD: DeliverySettings = { retry: { attempts: 1, first: 0, max: 0 }, inDoubt: 'hold', expires: 0 };

/**
 * Items that went into a digest which was not made yet: it may have been made and sent after the backup. Without items it
 * is never made.
 */
function callOffClosing(sql: Statements, moment: Moment): number {
  let cancelled = 0;
  for (const row of sql.all('SELECT document FROM digest_heads WHERE due_at IS NOT NULL')) {
    const { closing } = JSON.parse(String(row['document'])) as DigestHead;
    for (const { deliveryId, token } of closing?.items ?? []) {
      const before = readDelivery(sql, deliveryId);
      if (before?.state !== 'DIGESTED' || before.collected?.token !== token) continue;
      if (before.digestedIn !== undefined && readDelivery(sql, before.digestedIn)) continue;
      const move = { state: 'CANCELLED', reason: 'operator_cancel', detail: `by ${RESTORE}` } as const;
      rewriteDelivery(sql, before, moveTo(before, move, { nextAt: null }, moment));
      cancelled += 1;
    }
  }
  return cancelled;
}

/**
 * Calls off what the data had not sent: what waits, also for a digest, is CANCELLED, what was being sent is IN_DOUBT, and what the events on
 * its log and sending jobs will still cause is CANCELLED when it comes; what messages about cohorts there still change becomes no event. Answers
 * how many were cancelled.
 */
export function callOff(sql: Statements, moment: Moment): number {
  const next = (before: Delivery): Delivery | undefined => {
    const cancelled = operatorCancel(before, RESTORE, moment);
    return cancelled.ok ? cancelled.value : leaseRanOut(before, HELD, moment);
  };
  let cancelled = 0;
  for (const state of ['WAITING', 'COLLECTED', 'SENDING'] as const) {
    for (const row of sql.all('SELECT id FROM deliveries WHERE state = ?', state)) {
      const before = readDelivery(sql, String(row['id']));
      const after = before && next(before);
      if (!before || !after) continue;
      rewriteDelivery(sql, before, after);
      if (after.state === 'CANCELLED') cancelled += 1;
    }
  }
  cancelled += callOffClosing(sql, moment);
  for (const [topic, table] of Object.entries(TABLES)) {
    sql.run(
      `INSERT OR REPLACE INTO ${table} SELECT partition, next FROM partitions WHERE topic = ? AND next > 0`,
      topic,
    );
  }
  sql.run("INSERT OR IGNORE INTO called_off_jobs SELECT id FROM jobs WHERE action = 'send_missing'");
  return cancelled;
}
