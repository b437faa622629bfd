import { DatabaseSync } from 'node:sqlite';
import type { Delivery } from '@carillon/domain/deliveries';
import { stringifyJson } from '@carillon/kernel';
import { MongoClient, MongoServerError, type Collection, type Document, type OptionalUnlessRequiredId } from 'mongodb';

/** A program that inserts one delivery after the other, and waits for each. */
export type SingleInserts = {
  /** Whether it was new. */
  claim(delivery: Delivery): Promise<boolean>;
  stored(): Promise<number>;
  close(): Promise<void>;
};

/** Where it inserts: into a table of its own with the two uniqueness rules, or into the product's, which is there already. */
export type Into = 'bare table' | 'same table';

const slotText = ({ slot }: Delivery): string => stringifyJson({ ...slot });

/** The columns of the product's table, in the order of `valuesOf`. */
const COLUMNS = `id, version, state, workspace, notification_id, channel, unique_id, notification, event_id, recipient,
  next_at, lease_until, has_unpublished, created_at, updated_at, document, phase, reason, person, rule, is_test,
  intent_place`;

function valuesOf(delivery: Delivery, intentPlace: number | bigint): (string | number | bigint | null)[] {
  const { id, version, state, slot, intent, nextAt, leaseUntil, createdAt, updatedAt } = delivery;
  const unique = [slot.workspace, slot.notificationId, slot.channel, slot.uniqueId];
  const found = [intent.notification, intent.eventId, intent.to, nextAt, leaseUntil];
  const document = stringifyJson({ ...delivery, intent: intent.id });
  const moved = [delivery.unpublished.length > 0 ? 1 : 0, createdAt, updatedAt, document];
  const open = delivery.reason === 'new' ? 'NEW' : 'OPEN';
  const phase = state === 'WAITING' || state === 'SENDING' ? open : state;
  const listed = [phase, delivery.reason, intent.person, intent.rule, intent.test === undefined ? 0 : 1];
  return [id, version, state, ...unique, ...found, ...moved, ...listed, intentPlace];
}

/** Answers for each delivery whether it was new. The table has to be there. */
export function prepareSqliteInsert(db: DatabaseSync, into: Into): (delivery: Delivery) => boolean {
  if (into === 'bare table') {
    const bare = db.prepare('INSERT INTO claims VALUES (?, ?, ?) ON CONFLICT DO NOTHING');
    return (delivery) => bare.run(delivery.id, slotText(delivery), stringifyJson(delivery)).changes === 1;
  }
  const places = COLUMNS.split(',').map(() => '?');
  const insert = db.prepare(`INSERT INTO deliveries (${COLUMNS}) VALUES (${places.join(', ')}) ON CONFLICT DO NOTHING`);
  const addIntent = db.prepare('INSERT INTO delivery_intents (intent) VALUES (?)');
  return (delivery) => {
    const { lastInsertRowid: place } = addIntent.run(stringifyJson(delivery.intent));
    return insert.run(...valuesOf(delivery, place)).changes === 1;
  };
}

/** SQLite as the product has it, each insert a commit of its own. */
export function insertIntoSqlite(file: string, into: Into): SingleInserts {
  const db = new DatabaseSync(file);
  db.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL');
  if (into === 'bare table') {
    db.exec('CREATE TABLE claims (id TEXT PRIMARY KEY, slot TEXT NOT NULL UNIQUE, document TEXT NOT NULL) STRICT');
  }
  const insert = prepareSqliteInsert(db, into);
  const count = db.prepare(`SELECT count(*) AS held FROM ${into === 'bare table' ? 'claims' : 'deliveries'}`);
  return {
    claim: async (delivery) => insert(delivery),
    stored: async () => Number(count.get()?.['held']),
    close: async () => db.close(),
  };
}

const MAJORITY = { writeConcern: { w: 'majority', journal: true } } as const;
const DUPLICATE_KEY = 11_000;

const bareDocument = (delivery: Delivery) => ({
  _id: delivery.id as string,
  slot: slotText(delivery),
  document: stringifyJson(delivery),
});

/** With the fields that the product's indexes are over. */
const ledgerDocument = (delivery: Delivery) => ({
  _id: delivery.id as string,
  ...delivery.slot,
  version: delivery.version,
  state: delivery.state,
  notification: delivery.intent.notification,
  eventId: delivery.intent.eventId,
  recipient: delivery.intent.to,
  createdAt: delivery.createdAt,
  updatedAt: delivery.updatedAt,
  dueAt: delivery.nextAt,
  body: stringifyJson(delivery),
});

/** The driver of MongoDB, each insert acknowledged before the next. */
export async function insertIntoMongo(url: string, database: string, into: Into): Promise<SingleInserts> {
  const client = new MongoClient(url);
  const db = client.db(database);
  async function insertInto<T extends Document>(collection: Collection<T>, document: OptionalUnlessRequiredId<T>) {
    try {
      await collection.insertOne(document, MAJORITY);
      return true;
    } catch (error) {
      if (error instanceof MongoServerError && error.code === DUPLICATE_KEY) return false;
      throw error;
    }
  }
  const close = (): Promise<void> => client.close();
  if (into === 'same table') {
    const ledger = db.collection<ReturnType<typeof ledgerDocument>>('deliveries');
    return {
      claim: (delivery) => insertInto(ledger, ledgerDocument(delivery)),
      stored: () => ledger.countDocuments(),
      close,
    };
  }
  const claims = db.collection<ReturnType<typeof bareDocument>>('claims');
  await claims.createIndex({ slot: 1 }, { unique: true });
  return {
    claim: (delivery) => insertInto(claims, bareDocument(delivery)),
    stored: () => claims.countDocuments(),
    close,
  };
}
