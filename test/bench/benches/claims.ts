import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { openEmbedded } from '@carillon/adapter-embedded';
import { openMongo } from '@carillon/adapter-mongodb';
import { systemClock } from '@carillon/adapter-system';
import type { Delivery } from '@carillon/domain';
import { stringifyJson, type DeliveryId } from '@carillon/kernel';
import type { DeliveryLedger } from '@carillon/ports';
import { deliveryOf } from '@carillon/testing';
import { startMongoDb, type MongoDbService } from '@carillon/testing/services';
import { canStart } from '@carillon/testing/services/needs';
import { MongoClient, MongoServerError } from 'mongodb';
import { CannotRun, type Bench, type BenchCase, type OpenSide, type Reading, type Side } from '../harness/bench.ts';
import { temporaryFolder } from '../temporary-folder.ts';

/** What the delivery role is handed at once. */
const BATCH = 500;
const DUPLICATE_EVERY = 5;

/** Deliveries of which every fifth asks for a slot that another one has asked for shortly before. */
function createClaims(): { next(): Delivery; slots(): number; asked(): number } {
  let asked = 0;
  let slots = 0;
  return {
    next() {
      asked += 1;
      const repeats = asked % DUPLICATE_EVERY === 0 && slots > 40;
      if (!repeats) slots += 1;
      const slot = repeats ? slots - 37 : slots;
      return deliveryOf({ id: `dlv_${slot}` as DeliveryId, slot: { uniqueId: `order-${slot}` } });
    },
    slots: () => slots,
    asked: () => asked,
  };
}

type Claim = (deliveries: readonly Delivery[]) => Promise<number>;

/** Claims batches until the time is over; what was taken in all has to be what was asked for, each slot once. */
function claiming(claim: Claim, stored: () => Promise<number>, batch: number): Pick<OpenSide, 'round' | 'verify'> {
  const claims = createClaims();
  let taken = 0;
  return {
    async round({ seconds }): Promise<Reading> {
      const begun = performance.now();
      let done = 0;
      while (performance.now() - begun < seconds * 1000) {
        taken += await claim(Array.from({ length: batch }, () => claims.next()));
        done += batch;
      }
      return { done, seconds: (performance.now() - begun) / 1000 };
    },
    async verify() {
      const held = await stored();
      return taken === claims.slots() && held === claims.slots()
        ? []
        : [`${claims.slots()} slots were asked for, ${taken} were given and ${held} are stored`];
    },
  };
}

const claimWith =
  (ledger: DeliveryLedger): Claim =>
  async (deliveries) => {
    const answers = await ledger.insert(deliveries);
    return answers.filter(({ inserted }) => inserted).length;
  };

const waitingIn = async (ledger: DeliveryLedger): Promise<number> => (await ledger.countByState()).WAITING ?? 0;

const embedded: Side = {
  name: 'carillon',
  syncs: 'each batch (WAL, synchronous = FULL)',
  async open() {
    const folder = await temporaryFolder();
    const data = await openEmbedded({ dataDir: folder.path, clock: systemClock });
    return {
      ...claiming(claimWith(data.ledger), () => waitingIn(data.ledger), BATCH),
      async close() {
        await data.close();
        await folder.remove();
      },
    };
  },
};

/** One table with the two uniqueness rules that a ledger cannot do without, and no other index. */
const sqlite: Side = {
  name: 'node:sqlite, one by one',
  syncs: 'each insert (WAL, synchronous = FULL)',
  async open() {
    const folder = await temporaryFolder();
    const db = new DatabaseSync(join(folder.path, 'claims.db'));
    db.exec(`PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;
      CREATE TABLE claims (id TEXT PRIMARY KEY, slot TEXT NOT NULL UNIQUE, document TEXT NOT NULL) STRICT`);
    const insert = db.prepare('INSERT INTO claims VALUES (?, ?, ?) ON CONFLICT DO NOTHING');
    const claim: Claim = async ([delivery]) =>
      delivery
        ? Number(insert.run(delivery.id, stringifyJson({ ...delivery.slot }), stringifyJson(delivery)).changes)
        : 0;
    const stored = async (): Promise<number> =>
      Number(db.prepare('SELECT count(*) AS held FROM claims').get()?.['held']);
    return {
      ...claiming(claim, stored, 1),
      async close() {
        db.close();
        await folder.remove();
      },
    };
  },
};

/** One server for all sides of the case; the first to open starts it, the last to close stops it. */
function sharedServer(): { take(): Promise<string>; give(): Promise<void> } {
  let server: Promise<MongoDbService> | null = null;
  let users = 0;
  return {
    async take() {
      if (!canStart('mongodb')) throw new CannotRun('FerretDB is not fetched: npm run services -- fetch');
      server ??= startMongoDb();
      const { url } = await server;
      users += 1;
      return url;
    },
    async give() {
      users -= 1;
      if (users > 0) return;
      await (await server)?.stop();
      server = null;
    },
  };
}

const server = sharedServer();
const MAJORITY = { writeConcern: { w: 'majority', journal: true } } as const;

const mongo: Side = {
  name: 'carillon',
  syncs: "asks for majority and journal with each batch; FerretDB's PostgreSQL runs with fsync off",
  async open() {
    const url = await server.take();
    const stores = await openMongo({ url, database: 'bench-carillon', clock: systemClock });
    return {
      ...claiming(claimWith(stores.ledger), () => waitingIn(stores.ledger), BATCH),
      async close() {
        await stores.close();
        await server.give();
      },
    };
  },
};

const driver: Side = {
  name: 'mongodb driver, one by one',
  syncs: "asks for majority and journal with each insert; FerretDB's PostgreSQL runs with fsync off",
  async open() {
    const client = new MongoClient(await server.take());
    const claims = client.db('bench-driver').collection<{ _id: string; slot: string; document: string }>('claims');
    await claims.createIndex({ slot: 1 }, { unique: true });
    const claim: Claim = async ([delivery]) => {
      if (!delivery) return 0;
      const document = {
        _id: delivery.id,
        slot: stringifyJson({ ...delivery.slot }),
        document: stringifyJson(delivery),
      };
      try {
        await claims.insertOne(document, MAJORITY);
        return 1;
      } catch (error) {
        if (error instanceof MongoServerError && error.code === 11_000) return 0;
        throw error;
      }
    };
    return {
      ...claiming(claim, () => claims.countDocuments(), 1),
      async close() {
        await client.close();
        await server.give();
      },
    };
  },
};

const backend = (title: string, ours: Side, theirs: Side): BenchCase => ({
  title,
  counted: 'claims',
  sides: [ours, theirs],
  comparisons: [{ side: ours.name, to: theirs.name, measure: 'rate', wanted: 'at least', floor: 8, goal: 15 }],
});

export const claims: Bench = {
  name: 'claims',
  title: 'Taking messages into custody',
  what: `Deliveries are inserted into the ledger, of which one in ${DUPLICATE_EVERY} asks for a slot that is taken: by the product in batches of ${BATCH}, as the
delivery role takes them from the log, and by a program that inserts one after the other into a table with the same two uniqueness
rules and no other index. At the end each slot has been given once and is stored once.`,
  cases: [backend('embedded', embedded, sqlite), backend('the protocol of MongoDB', mongo, driver)],
};
