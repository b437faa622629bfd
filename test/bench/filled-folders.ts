import { createHash } from 'node:crypto';
import { cp, mkdir, open, readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { fileURLToPath } from 'node:url';
import { openEmbedded, type Embedded } from '@carillon/adapter-embedded';
import { createIds, systemClock } from '@carillon/adapter-system';
import { streamTable } from '@carillon/domain/configuration';
import type { Delivery } from '@carillon/domain/deliveries';
import type { DeliveryId } from '@carillon/kernel';
import type { NewRecord, TopicName } from '@carillon/ports';
import { deliveryOf, startProduct } from '@carillon/testing';
import { configurationOf, ORDERS, stream } from '@carillon/testing/given';
import { ensureCached, type CacheEntry } from '@carillon/testing/services';
import { createCorpus } from './corpus.ts';
import { eventRecord } from './event-record.ts';
import { prepareSqliteInsert } from './peers/single-inserts.ts';
import { configure, streamFiles } from './product.ts';
import { temporaryFolder } from './temporary-folder.ts';
import { variedDelivery } from './varied-deliveries.ts';

/** The file of the embedded backend, in its folder. */
export const DATABASE_FILE = 'carillon.db';
/** Records in one commit. */
const BATCH_SIZE = 20_000;
const ids = createIds(new Uint8Array(32));

/** Records as the gateway appends them. */
function createRecords(partitions: number): (count: number) => NewRecord[] {
  const events = createCorpus();
  const orders = streamTable(configurationOf([stream('orders', ORDERS)])).streams.get('shop/orders');
  if (!orders) throw new Error('the stream is not configured');
  return (count) => Array.from({ length: count }, () => eventRecord(events.next(), orders, partitions, ids));
}

/** Who reads the events, and has read all of them: as in a folder that was in use for long. */
async function readThrough({ log, checkpoints }: Embedded): Promise<void> {
  const topic: TopicName = 'carillon.events';
  for (const group of ['engine', 'control']) {
    for (let partition = 0; partition < log.partitions(topic); partition += 1) {
      const before = await checkpoints.load(group, topic, partition);
      const { end } = await log.bounds(topic, partition);
      const fresh = { group, topic, partition, logId: log.logId, watermark: 0, configNumber: -1 };
      await checkpoints.save({ ...(before ?? fresh), next: end });
    }
  }
}

/** Starts once to have a workspace, then puts so many events on the log. */
async function fillWithEvents(dataDir: string, events: number): Promise<void> {
  const product = await startProduct({ dataDir, cwd: dataDir });
  await configure(product, streamFiles);
  await product.kill('SIGTERM');
  const data = await openEmbedded({ dataDir, clock: systemClock });
  try {
    const records = createRecords(data.log.partitions('carillon.events'));
    for (let done = 0; done < events; done += BATCH_SIZE) {
      await data.log.append(records(Math.min(BATCH_SIZE, events - done)));
    }
    await readThrough(data);
  } finally {
    await data.close();
  }
}

/** Delivery `n` of those that fill a ledger, under the id that the product would give its slot. */
export function numberedDelivery(n: number): Delivery {
  const id = `dlv_${ids.keyed('slot', String(n))}` as DeliveryId;
  return deliveryOf({ id, slot: { uniqueId: `order-${n}` } });
}

/** Past the ledger, which would take minutes: rows first, and then the indexes over all of them. */
async function fillLedger(dataDir: string, slots: number, delivery: (n: number) => Delivery): Promise<void> {
  await (await openEmbedded({ dataDir, clock: systemClock })).close();
  const db = new DatabaseSync(join(dataDir, DATABASE_FILE));
  const indexes = db
    .prepare("SELECT name, sql FROM sqlite_master WHERE type = 'index' AND tbl_name = 'deliveries' AND sql IS NOT NULL")
    .all();
  db.exec('BEGIN');
  for (const { name } of indexes) db.exec(`DROP INDEX ${String(name)}`);
  const insert = prepareSqliteInsert(db, 'same table');
  for (let n = 1; n <= slots; n += 1) insert(delivery(n));
  for (const { sql } of indexes) db.exec(String(sql));
  db.exec('INSERT INTO delivery_counts SELECT state, count(*) FROM deliveries GROUP BY state');
  db.exec('COMMIT');
  db.exec('PRAGMA wal_checkpoint(TRUNCATE)');
  db.close();
}

const SOURCES = ['filled-folders.ts', 'event-record.ts', 'varied-deliveries.ts', 'peers/single-inserts.ts'].map(
  (name) => fileURLToPath(new URL(name, import.meta.url)),
);
const SCHEMA = fileURLToPath(new URL('../../libs/adapters/embedded/src/schema', import.meta.url));

/** Another schema, or another way to fill, is another folder. */
async function digestOfSources(): Promise<string> {
  const digest = createHash('sha256');
  const schema = (await readdir(SCHEMA)).toSorted().map((name) => join(SCHEMA, name));
  for (const source of [...SOURCES, ...schema]) digest.update(await readFile(source));
  return digest.digest('hex').slice(0, 12);
}

/** A copy of a data folder that takes long to fill: it is filled once, and kept with the servers of the tests. */
async function copyOf(name: string, title: string, fill: (dataDir: string) => Promise<void>) {
  const entry: CacheEntry = {
    name: `bench-${name}-${await digestOfSources()}`,
    title,
    async build({ out, say }) {
      say('filling it');
      const dataDir = join(out, 'data');
      await mkdir(dataDir);
      await fill(dataDir);
    },
  };
  const kept = await ensureCached(entry, (line) => console.log(`    ${line}`));
  const folder = await temporaryFolder();
  await cp(join(kept, 'data'), folder.path, { recursive: true });
  // On the disk now, so that writing it there is not measured.
  for (const file of await readdir(folder.path, { recursive: true, withFileTypes: true })) {
    if (!file.isFile()) continue;
    const handle = await open(join(file.parentPath, file.name), 'r+');
    await handle.sync();
    await handle.close();
  }
  return folder;
}

/** A folder of the embedded backend in which so many events of 732 bytes stand that every role has read. */
export const folderWithEvents = (events: number) =>
  copyOf(`events-${events}`, `a folder with ${events.toLocaleString('en')} events`, (dataDir) =>
    fillWithEvents(dataDir, events),
  );

/** A folder of the embedded backend with the numbered deliveries from 1 to so many. */
export const folderWithSlots = (slots: number) =>
  copyOf(`slots-${slots}`, `a ledger with ${slots.toLocaleString('en')} slots`, (dataDir) =>
    fillLedger(dataDir, slots, numberedDelivery),
  );

/** A folder of the embedded backend with so many deliveries of one day, of every state, reason and channel. */
export const folderWithDeliveries = (deliveries: number) =>
  copyOf(`deliveries-${deliveries}`, `a ledger with ${deliveries.toLocaleString('en')} deliveries`, (dataDir) =>
    fillLedger(dataDir, deliveries, (n) => variedDelivery(n, deliveries)),
  );
