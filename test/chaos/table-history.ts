import pg from 'pg';

/** A row of the history that a trigger keeps: what happened to the row, before and after. */
export type HistoryEntry = readonly [op: string, after: unknown, before: unknown];

const TABLES = `
CREATE TABLE orders (id bigint PRIMARY KEY, status text, total integer, notes text);
ALTER TABLE orders REPLICA IDENTITY FULL;
CREATE TABLE history (place bigserial PRIMARY KEY, op text, id bigint, before jsonb, after jsonb);
CREATE FUNCTION keep_history() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  INSERT INTO history (op, id, before, after) VALUES (
    CASE TG_OP WHEN 'INSERT' THEN 'create' ELSE lower(TG_OP) END, coalesce(NEW.id, OLD.id), to_jsonb(OLD), to_jsonb(NEW));
  RETURN NULL;
END $$;
CREATE TRIGGER keep_history AFTER INSERT OR UPDATE OR DELETE ON orders FOR EACH ROW EXECUTE FUNCTION keep_history();`;

/** Rows that all writers share, so that they change the same ones. */
const ROWS = 400;
const MAX_ROWS_OF_TRANSACTION = 50;

const random = (most: number): number => 1 + Math.floor(Math.random() * most);

export async function connectTo(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  return client;
}

export const createHistoryTables = async (client: pg.Client): Promise<void> => void (await client.query(TABLES));

/** Runs transactions of 1 to 50 rows until `isOver`. Resolves to their number. */
export async function writeUntil(url: string, isOver: () => boolean): Promise<number> {
  const client = await connectTo(url);
  let transactions = 0;
  try {
    while (!isOver()) {
      // In ascending order, so that two writers never wait for each other.
      const ids = [...new Set(Array.from({ length: random(MAX_ROWS_OF_TRANSACTION) }, () => random(ROWS)))];
      await client.query('BEGIN');
      for (const id of ids.toSorted((a, b) => a - b)) await changeRow(client, id);
      // Some of them never happened.
      await client.query(Math.random() < 0.05 ? 'ROLLBACK' : 'COMMIT');
      transactions += 1;
    }
  } finally {
    await client.end();
  }
  return transactions;
}

async function changeRow(client: pg.Client, id: number): Promise<void> {
  if (Math.random() < 0.1) return void (await client.query('DELETE FROM orders WHERE id = $1', [id]));
  const values = [id, ['open', 'paid', 'sent'][random(3) - 1], random(1000), 'x'.repeat(random(300))];
  await client.query(
    `INSERT INTO orders VALUES ($1, $2, $3, $4)
     ON CONFLICT (id) DO UPDATE SET status = excluded.status, total = excluded.total, notes = excluded.notes`,
    values,
  );
}

/** The history by row, in the order in which it happened. A row is locked while it changes, so this is commit order. */
export async function readHistory(client: pg.Client): Promise<ReadonlyMap<number, readonly HistoryEntry[]>> {
  const { rows } = await client.query<{ op: string; id: string; before: unknown; after: unknown }>(
    'SELECT op, id, before, after FROM history ORDER BY place',
  );
  const byRow = new Map<number, HistoryEntry[]>();
  for (const { op, id, before, after } of rows) {
    const entries = byRow.get(Number(id)) ?? [];
    byRow.set(Number(id), entries);
    entries.push([op, after ?? before, before]);
  }
  return byRow;
}
