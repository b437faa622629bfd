import { existsSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { moveTo, type Delivery, type Moment } from '@carillon/domain/deliveries';
import { CarillonError, isCarillonError, messageOf } from '@carillon/kernel';
import { MESSAGE_CLAIM, type AnyCollection } from '@carillon/ports';
import { refuseDamagedWal } from '../damage/look-at-wal.ts';
import { dataFiles } from '../data-folder.ts';
import { lockFolder } from '../folder-lock.ts';
import { MIGRATIONS } from '../schema/migrations.ts';
import { statementsOf, type Statements } from '../statements.ts';
import { carryDocuments } from './carry-documents.ts';
import { addDelivery, readDeliveries, readDelivery, rewriteDelivery } from './documents.ts';
import type { Span } from './outstanding.ts';

/** Facts that a restore took from the folder that it replaces. */
export type CarriedOver = {
  /** Deliveries whose newer end, or doubt, the restored ledger knows now. */
  readonly deliveries: number;
  /** Deliveries that only the newer folder has and that waited there: they come again only with their events. */
  readonly leftWaiting: number;
  /** Addresses that only the newer folder held mail back from. */
  readonly suppressed: number;
  /** People who said something there that the backup does not know: what they want no more, or want again. */
  readonly consents: number;
  /** Drafts of resources that were saved there since. */
  readonly drafts: number;
  /** Records of `carillon.events` that only the newer folder has. */
  readonly lost: readonly Span[];
};

/** Version of the data with which the ledger got its table; what it holds is read of any version since. */
const HAS_LEDGER = 3;

const refuse = (detail: string): CarillonError => new CarillonError('wrong_usage', detail);

/**
 * Copies deliveries from the newer folder's ledger that ended, are in doubt or were being sent, so that neither
 * repeated work of the backup nor repeated events send them again. Each is reported on the log. Deliveries that were
 * waiting there stay as in the backup. Also copies suppressed addresses.
 */
export function carryOver(
  sql: Statements,
  newer: string,
  moment: Moment,
  collections: readonly AnyCollection[],
): CarriedOver {
  const { database } = dataFiles(newer);
  if (!existsSync(database)) throw refuse(`there is no carillon.db in ${newer}`);
  const lock = lockFolder(newer, 'carillon restore', moment.now);
  let db: DatabaseSync | null = null;
  try {
    // What the damage hides was sent, and would be sent again.
    refuseDamagedWal(newer, database);
    db = new DatabaseSync(database, { readOnly: true });
    const source = statementsOf(db);
    const lost = compare(sql, source, newer);
    const configurations = Number(
      sql.get("SELECT next FROM partitions WHERE topic = 'carillon.config' AND partition = 0")?.['next'] ?? 0,
    );
    let [deliveries, leftWaiting] = [0, 0];
    for (const theirs of readDeliveries(source)) {
      const ours = readDelivery(sql, theirs.id);
      if (isUnsent(theirs, source)) {
        if (!ours) leftWaiting += 1;
      } else if (ours?.version !== theirs.version || ours.updatedAt !== theirs.updatedAt) {
        const next = carried(theirs, configurations, moment);
        if (ours) rewriteDelivery(sql, ours, next);
        else addDelivery(sql, next);
        deliveries += 1;
      }
    }
    const suppressed = carrySuppressions(sql, source);
    carryMessageClaims(sql, source);
    const byName = new Map(
      collections.map((one) => [one.name, carryDocuments(one, sql, source, configurations)] as const),
    );
    const [consents = 0, drafts = 0] = ['consents', 'drafts'].map((name) => byName.get(name));
    return { deliveries, leftWaiting, suppressed, consents, drafts, lost };
  } catch (error) {
    if (isCarillonError(error)) throw error;
    throw new CarillonError('wrong_usage', `${newer} cannot be read (${messageOf(error)})`, {}, { cause: error });
  } finally {
    db?.close();
    lock.release();
  }
}

/**
 * Returns true if the delivery notified nobody: it waits, alone or for a digest, or its digest waits or does not exist.
 */
function isUnsent({ state, clean, digestedIn }: Delivery, source: Statements): boolean {
  if (!clean) return false;
  if (state !== 'DIGESTED') return state === 'WAITING' || state === 'COLLECTED';
  const digest = digestedIn === undefined ? null : readDelivery(source, digestedIn);
  return digest === null || (digest.state === 'WAITING' && digest.clean);
}

const SUPPRESSION = ['workspace', 'channel', 'address', 'source', 'detail', 'delivery_id', 'at', 'added_by'] as const;

/** Copies suppressions added since the backup. Those of the backup stay. */
function carrySuppressions(sql: Statements, source: Statements): number {
  const columns = SUPPRESSION.join(', ');
  const places = SUPPRESSION.map(() => '?').join(', ');
  let added = 0;
  // Columns that an older version lacks become null.
  for (const row of source.iterate('SELECT * FROM suppressions ORDER BY sequence')) {
    const values = SUPPRESSION.map((column) => row[column] ?? null);
    added += sql.run(`INSERT INTO suppressions (${columns}) VALUES (${places}) ON CONFLICT DO NOTHING`, ...values);
  }
  return added;
}

/** STOP and START messages that were carried out since the backup change nothing when they are delivered again. */
function carryMessageClaims(sql: Statements, source: Statements): void {
  if (!source.get("SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'lookup_claims'")) return;
  const claims = 'SELECT trigger_id, position, at FROM lookup_claims WHERE trigger_id >= ? AND trigger_id < ?';
  for (const row of source.iterate(claims, MESSAGE_CLAIM, `${MESSAGE_CLAIM}\u{10FFFF}`)) {
    sql.run(
      'INSERT INTO lookup_claims (trigger_id, position, at) VALUES (?, ?, ?) ON CONFLICT DO NOTHING',
      String(row['trigger_id']),
      String(row['position']),
      Number(row['at']),
    );
  }
}

/**
 * Where it is, said once more: the move stands in its story, and its outcome goes to the log of the restored folder.
 * Numbers of configurations that the backup does not have will mean others, so it keeps the newest that it has.
 */
function carried(theirs: Delivery, configurations: number, moment: Moment): Delivery {
  const { state, reason, intent } = theirs;
  const detail = [theirs.detail, 'carried over by a restore'].filter((part) => part !== '').join('; ');
  const configNumber = Math.min(intent.configNumber, configurations - 1);
  return moveTo(theirs, { state, reason, detail }, { intent: { ...intent, configNumber } }, moment);
}

/** Refuses a folder of another deployment or an older one. Returns the spans that only the newer log has. */
function compare(sql: Statements, source: Statements, newer: string): readonly Span[] {
  const version = Number(source.get('PRAGMA user_version')?.['user_version']);
  if (version < HAS_LEDGER || version > MIGRATIONS.length) {
    throw refuse(
      `the data in ${newer} has version ${version}; this program reads ${HAS_LEDGER} to ${MIGRATIONS.length}`,
    );
  }
  const identity = 'SELECT log_id, key_fingerprint FROM deployment_identity';
  const [ours, theirs] = [sql.get(identity), source.get(identity)];
  if (ours?.['log_id'] !== theirs?.['log_id'] || ours?.['key_fingerprint'] !== theirs?.['key_fingerprint']) {
    throw refuse(`${newer} is the folder of another deployment than the backup`);
  }
  const spans: Span[] = [];
  for (const row of source.all("SELECT partition, next FROM partitions WHERE topic = 'carillon.events'")) {
    const partition = Number(row['partition']);
    const end = Number(row['next']);
    const from = Number(
      sql.get("SELECT next FROM partitions WHERE topic = 'carillon.events' AND partition = ?", partition)?.['next'] ??
        0,
    );
    if (end < from) throw refuse(`${newer} is older than the backup: carillon.events/${partition} ends earlier there`);
    if (end > from) spans.push({ topic: 'carillon.events', partition, from, to: end });
  }
  return spans;
}
