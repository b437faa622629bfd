import { openEmbedded } from '@carillon/adapter-embedded';
import { openMongo } from '@carillon/adapter-mongodb';
import type { Clock } from '@carillon/ports';
import { createDirectWire, createMemoryBackend } from '@carillon/testing/memory';
import { startMongoDb } from '@carillon/testing/services';
import { canStart } from '@carillon/testing/services/needs';
import { COLLECTIONS, createSourceStore, createStores } from '@carillon/stores';
import type { Backing } from '@carillon/testing/topology';
import { CannotRun } from './harness/bench.ts';
import { shared } from './started-once.ts';
import { temporaryFolder } from './temporary-folder.ts';

/** Log and stores of the embedded backend, in a folder of its own that is gone at the end: SQLite, WAL, synchronous = FULL. */
export const onSqlite =
  (partitions: number) =>
  async (clock: Clock): Promise<Backing> => {
    const folder = await temporaryFolder();
    const data = await openEmbedded({ dataDir: folder.path, clock, partitions, collections: COLLECTIONS });
    return {
      data: {
        ...data,
        ...createStores(data.documents),
        sources: createSourceStore(data.documents, data.writeWithRecords),
      },
      async close() {
        await data.close();
        await folder.remove();
      },
    };
  };

/** One server for all sides of a bench. */
const server = shared(
  async () => {
    if (!canStart('mongodb')) throw new CannotRun('FerretDB is not fetched: npm run services -- fetch');
    return startMongoDb();
  },
  (started) => started.stop(),
);

let databases = 0;

/** Stores over the protocol of MongoDB in a database of their own, beside a log in memory. */
export const onMongo =
  (partitions: number) =>
  async (clock: Clock): Promise<Backing> => {
    const { url } = await server.take();
    const stores = await openMongo({ url, database: `bench-${process.pid}-${(databases += 1)}`, clock });
    const rest = createMemoryBackend({ clock, partitions }).connect(createDirectWire());
    return {
      data: { ...rest, ...stores },
      async close() {
        await stores.close();
        await server.release();
      },
    };
  };
