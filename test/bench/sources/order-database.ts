import {
  createPostgresDatabase,
  startPostgres,
  type PostgresDatabase,
  type PostgresService,
} from '@carillon/testing/services';
import { canStart } from '@carillon/testing/services/needs';
import pg from 'pg';
import { CannotRun } from '../harness/bench.ts';
import { shared } from '../started-once.ts';
import { createRows } from './order-rows.ts';

/** PostgreSQL as it is set by default, but with logical replication: each commit waits for the disk. */
export const postgres = shared(
  async () => {
    if (!canStart('postgres')) throw new CannotRun('it needs PostgreSQL; npm run services -- fetch postgres');
    // A reader that is held still is no reader that is gone.
    return startPostgres({ settings: { fsync: 'on', shared_buffers: '128MB', wal_sender_timeout: 0 } });
  },
  (server) => server.stop(),
);

/** A database with a table of orders, and the connection that writes it. */
export type OrderDatabase = {
  readonly server: PostgresService;
  readonly database: PostgresDatabase;
  /** Inserts new rows, 1,000 in a transaction. */
  insert(count: number): Promise<void>;
  /** Sets the status of a row. Resolves after the commit. */
  update(id: number, status: string): Promise<void>;
  close(): Promise<void>;
};

const TABLE = `CREATE TABLE orders (id bigint PRIMARY KEY, order_id text, status text, total double precision, currency text,
  email text, country text, items int, note text);
ALTER TABLE orders REPLICA IDENTITY FULL`;
const BATCH = 1_000;

export async function createOrderDatabase(): Promise<OrderDatabase> {
  const server = await postgres.take();
  const database = await createPostgresDatabase(server.url);
  await database.run(TABLE);
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  const nextRows = createRows();
  return {
    server,
    database,
    async insert(count) {
      for (let done = 0; done < count; done += BATCH) {
        await client.query('INSERT INTO orders SELECT * FROM json_populate_recordset(NULL::orders, $1)', [
          JSON.stringify(nextRows(Math.min(BATCH, count - done))),
        ]);
      }
    },
    update: async (id, status) =>
      void (await client.query('UPDATE orders SET status = $2 WHERE id = $1', [id, status])),
    async close() {
      await client.end();
      await database.drop();
      await postgres.release();
    },
  };
}
