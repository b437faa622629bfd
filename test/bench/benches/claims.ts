import { join } from 'node:path';
import { openEmbedded } from '@carillon/adapter-embedded';
import { openMongo } from '@carillon/adapter-mongodb';
import { systemClock } from '@carillon/adapter-system';
import type { Delivery } from '@carillon/domain/deliveries';
import type { DeliveryId, EventId } from '@carillon/kernel';
import type { DeliveryLedger } from '@carillon/ports';
import { deliveryOf } from '@carillon/testing';
import { startMongoDb } from '@carillon/testing/services';
import { canStart } from '@carillon/testing/services/needs';
import { createDice, nextUsers } from '../corpus.ts';
import { DATABASE_FILE } from '../filled-folders.ts';
import { CannotRun, type Bench, type BenchCase, type OpenSide, type Reading, type Side } from '../harness/bench.ts';
import { insertIntoMongo, insertIntoSqlite, type Into, type SingleInserts } from '../peers/single-inserts.ts';
import { shared } from '../started-once.ts';
import { temporaryFolder } from '../temporary-folder.ts';

/** What the delivery role is handed at once of each partition, and of how many partitions it is: as many as a topic has by default. */
const AS_THE_ROLE = { partitions: 8, batch: 500 };
const ONE_PARTITION = { partitions: 1, batch: 500 };
const ONE_BY_ONE = { partitions: 1, batch: 1 };
const DUPLICATE_EVERY = 5;

/** Ids of the product are hashes, so that what comes next to each other stands apart in an index: Knuth's multiplicative hash. */
const scattered = (number: number): string => (Math.imul(number, 2_654_435_761) >>> 0).toString(36).padStart(7, '0');

/**
 * Deliveries of one partition, for the customers of the corpus, made and due now. Every fifth asks for a slot that another one of
 * them has asked for shortly before.
 */
function createClaims(partition: number): { next: () => Delivery; slots: () => number } {
  const customers = nextUsers(createDice(partition));
  let asked = 0;
  let slots = 0;
  return {
    next() {
      asked += 1;
      const repeats = asked % DUPLICATE_EVERY === 0 && slots > 40;
      if (!repeats) slots += 1;
      const number = repeats ? slots - 37 : slots;
      const slot = `${scattered(number * AS_THE_ROLE.partitions + partition)}-${partition}-${number}`;
      const to = `user-${customers()}@example.com`;
      const now = Date.now();
      return deliveryOf({
        id: `dlv_${slot}` as DeliveryId,
        slot: { uniqueId: `order-${partition}-${number}` },
        intent: { eventId: `evt_${slot}` as EventId, to, person: to },
        createdAt: now,
        updatedAt: now,
        nextAt: now,
      });
    },
    slots: () => slots,
  };
}

type Asked = { readonly partitions: number; readonly batch: number };
type Claim = (deliveries: readonly Delivery[]) => Promise<number>;

/**
 * Claims batches of each partition, one after the other, until the time is over; what was taken in all has to be what was
 * asked for, each slot once.
 */
function claiming(
  claim: Claim,
  stored: () => Promise<number>,
  { partitions, batch }: Asked,
): Pick<OpenSide, 'round' | 'verify'> {
  const claims = Array.from({ length: partitions }, (_, partition) => createClaims(partition));
  let taken = 0;
  return {
    async round({ seconds }): Promise<Reading> {
      const begun = performance.now();
      let done = 0;
      const claimAll = async (next: () => Delivery): Promise<void> => {
        while (performance.now() - begun < seconds * 1000) {
          const given = await claim(Array.from({ length: batch }, next));
          taken += given;
          done += batch;
        }
      };
      await Promise.all(claims.map((each) => claimAll(each.next)));
      return { done, seconds: (performance.now() - begun) / 1000 };
    },
    async verify() {
      const held = await stored();
      const slots = claims.reduce((sum, each) => sum + each.slots(), 0);
      return taken === slots && held === slots
        ? []
        : [`${slots} slots were asked for, ${taken} were given and ${held} are stored`];
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

const OURS = 'carillon';
const OURS_ONE = 'carillon, one partition';

const embedded = (name: string, asked: Asked): Side => ({
  name,
  syncs: 'each commit of the writer, which takes up to 1,000 (WAL, synchronous = FULL)',
  async open() {
    const folder = await temporaryFolder();
    const data = await openEmbedded({ dataDir: folder.path, clock: systemClock });
    return {
      ...claiming(claimWith(data.ledger), () => waitingIn(data.ledger), asked),
      async close() {
        await data.close();
        await folder.remove();
      },
    };
  },
});

/** A side of one program that inserts one by one; `after` ends what it stood on. */
const inSequence = (
  name: string,
  syncs: string,
  start: () => Promise<SingleInserts & { after(): Promise<void> }>,
): Side => ({
  name,
  syncs,
  async open() {
    const inserts = await start();
    const claim: Claim = async ([delivery]) => (delivery && (await inserts.claim(delivery)) ? 1 : 0);
    return {
      ...claiming(claim, () => inserts.stored(), ONE_BY_ONE),
      async close() {
        await inserts.close();
        await inserts.after();
      },
    };
  },
});

const sqlite = (name: string, into: Into): Side =>
  inSequence(name, 'each insert (WAL, synchronous = FULL)', async () => {
    const folder = await temporaryFolder();
    // Makes the table with its indexes.
    if (into === 'same table') await (await openEmbedded({ dataDir: folder.path, clock: systemClock })).close();
    return { ...insertIntoSqlite(join(folder.path, DATABASE_FILE), into), after: () => folder.remove() };
  });

/** One server for all sides of the case. */
const server = shared(
  async () => {
    if (!canStart('mongodb')) throw new CannotRun('FerretDB is not fetched: npm run services -- fetch');
    return startMongoDb();
  },
  (started) => started.stop(),
);

const mongo = (name: string, asked: Asked): Side => ({
  name,
  syncs: "asks for majority and journal with each batch; FerretDB's PostgreSQL runs with fsync off",
  async open() {
    const { url } = await server.take();
    const stores = await openMongo({ url, database: `bench-carillon-${asked.partitions}`, clock: systemClock });
    return {
      ...claiming(claimWith(stores.ledger), () => waitingIn(stores.ledger), asked),
      async close() {
        await stores.close();
        await server.release();
      },
    };
  },
});

const driver = (name: string, into: Into): Side =>
  inSequence(
    name,
    "asks for majority and journal with each insert; FerretDB's PostgreSQL runs with fsync off",
    async () => {
      const { url } = await server.take();
      const database = `bench-${into.replace(' ', '-')}`;
      // Makes the collection with its indexes.
      if (into === 'same table') await (await openMongo({ url, database, clock: systemClock })).close();
      return { ...(await insertIntoMongo(url, database, into)), after: () => server.release() };
    },
  );

const BARE = 'one by one, one index';
const SAME = 'one by one, the same indexes';

const backend = (
  title: string,
  ours: (name: string, asked: Asked) => Side,
  theirs: (name: string, into: Into) => Side,
): BenchCase => ({
  title,
  counted: 'claims',
  sides: [
    ours(OURS, AS_THE_ROLE),
    ours(OURS_ONE, ONE_PARTITION),
    theirs(BARE, 'bare table'),
    theirs(SAME, 'same table'),
  ],
  comparisons: [
    { side: OURS, to: BARE, measure: 'rate', wanted: 'at least', floor: 8, goal: 15 },
    { side: OURS, to: SAME, measure: 'rate', wanted: 'at least' },
    { side: OURS_ONE, to: BARE, measure: 'rate', wanted: 'at least' },
  ],
});

export const claims: Bench = {
  name: 'claims',
  title: 'Taking messages into custody',
  what: `Deliveries are inserted into the ledger, of which one in ${DUPLICATE_EVERY} asks for a slot that is taken: by the product in batches of ${AS_THE_ROLE.batch}, as the
delivery role takes them from the log, one of each of ${AS_THE_ROLE.partitions} partitions at a time or of only one partition, and by two programs that wait for each insert before the next: one into a table with the same two uniqueness
rules and no other index, one into the product's own table, with its eleven indexes. The floor is judged by the first, because that is what somebody has who only wants
each message once; its ratio is less than what batches save, because the product pays for eleven indexes. What the batches alone save shows beside the second.
At the end each slot has been given once and is stored once.`,
  cases: [backend('embedded', embedded, sqlite), backend('the protocol of MongoDB', mongo, driver)],
};
