import { createHash } from 'node:crypto';
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
/** Exponent of the number of rows: about seven on average. */
const SMALLNESS = 6;

const random = (most: number): number => 1 + Math.floor(Math.random() * most);

export async function connectTo(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  return client;
}

export const createHistoryTables = async (client: pg.Client): Promise<void> => void (await client.query(TABLES));

/** Runs transactions of 1 to 50 rows, most of them small, until `isOver`. Resolves to their number. */
export async function writeUntil(url: string, isOver: () => Promise<boolean>): Promise<number> {
  const client = await connectTo(url);
  let transactions = 0;
  try {
    while (!(await isOver())) {
      const rows = Math.ceil(MAX_ROWS_OF_TRANSACTION * Math.random() ** SMALLNESS);
      // In ascending order, so that two writers never wait for each other.
      const ids = [...new Set(Array.from({ length: rows }, () => random(ROWS)))].toSorted((a, b) => a - b);
      // Some of them never happened. One round trip, because the writers share the processors with what is tested.
      const end = Math.random() < 0.05 ? 'ROLLBACK' : 'COMMIT';
      await client.query(['BEGIN', ...ids.map(changeOf), end].join('; '));
      transactions += 1;
    }
  } finally {
    await client.end();
  }
  return transactions;
}

function changeOf(id: number): string {
  if (Math.random() < 0.1) return `DELETE FROM orders WHERE id = ${id}`;
  const status = ['open', 'paid', 'sent'][random(3) - 1];
  return `INSERT INTO orders VALUES (${id}, '${status}', ${random(1000)}, '${'x'.repeat(random(300))}')
    ON CONFLICT (id) DO UPDATE SET status = excluded.status, total = excluded.total, notes = excluded.notes`;
}

/** Digests of the entries of each row, in the order in which they happened: millions of entries would not fit in memory. */
export class RowHistories {
  readonly #byRow = new Map<number, string[]>();
  count = 0;

  add(row: number, entry: HistoryEntry): void {
    const digests = this.#byRow.get(row) ?? [];
    this.#byRow.set(row, digests);
    digests.push(
      createHash('sha256')
        .update(JSON.stringify(entry.map(inOrder)))
        .digest('base64')
        .slice(0, 12),
    );
    this.count += 1;
  }

  /** Returns where the entries of a row differ first, for each row in which they do. */
  differences(from: RowHistories): readonly string[] {
    const rows = new Set([...this.#byRow.keys(), ...from.#byRow.keys()]);
    return [...rows].flatMap((row) => {
      const [mine, theirs] = [this.#byRow.get(row) ?? [], from.#byRow.get(row) ?? []];
      const at = mine.findIndex((digest, index) => digest !== theirs[index]);
      if (at < 0 && mine.length === theirs.length) return [];
      return [`row ${row}: entry ${at < 0 ? mine.length : at} of ${mine.length} and ${theirs.length}`];
    });
  }
}

/** A row with its columns in alphabetical order. */
const inOrder = (value: unknown): unknown =>
  value !== null && typeof value === 'object'
    ? Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1))
    : value;

const PAGE = 5_000;

/** The history by row. A row is locked while it changes, so the order of its entries is commit order. */
export async function readHistory(client: pg.Client): Promise<RowHistories> {
  const histories = new RowHistories();
  for (let last = '0'; ;) {
    const { rows } = await client.query<{ place: string; op: string; id: string; before: unknown; after: unknown }>(
      'SELECT place, op, id, before, after FROM history WHERE place > $1 ORDER BY place LIMIT $2',
      [last, PAGE],
    );
    for (const { op, id, before, after } of rows) histories.add(Number(id), [op, after ?? before, before]);
    const page = rows.at(-1);
    if (page === undefined) return histories;
    last = page.place;
  }
}
