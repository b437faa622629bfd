import { createHash } from 'node:crypto';
import type { JsonObject } from '@carillon/kernel';
import pg from 'pg';

/** Rows that all writers share, so that they change the same ones. */
const ROWS = 400;
/** Transactions of one call: they cost the processors of the product less than single ones. */
const TRANSACTIONS_OF_CALL = 20;

/*
 * A transaction changes 1 to 50 rows, most transactions few of them: about seven on average. Rows are changed in ascending order,
 * so that two writers never wait for each other. One of twenty transactions is rolled back.
 */
const TABLES = `
CREATE TABLE orders (id bigint PRIMARY KEY, status text, total integer, notes text);
ALTER TABLE orders REPLICA IDENTITY FULL;
CREATE TABLE history (place bigserial PRIMARY KEY, op text, id bigint, before orders, after orders);
CREATE FUNCTION keep_history() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
  INSERT INTO history (op, id, before, after) VALUES (
    CASE TG_OP WHEN 'INSERT' THEN 'create' ELSE lower(TG_OP) END, coalesce(NEW.id, OLD.id), OLD, NEW);
  RETURN NULL;
END $$;
CREATE TRIGGER keep_history AFTER INSERT OR UPDATE OR DELETE ON orders FOR EACH ROW EXECUTE FUNCTION keep_history();
CREATE PROCEDURE write_transactions(amount integer) LANGUAGE plpgsql AS $$ DECLARE row_id bigint; BEGIN
  FOR n IN 1..amount LOOP
    FOR row_id IN SELECT DISTINCT 1 + floor(random() * ${ROWS})::bigint AS changed
      FROM generate_series(1, ceil(50 * random() ^ 6)::integer) ORDER BY changed
    LOOP
      IF random() < 0.1 THEN DELETE FROM orders WHERE id = row_id;
      ELSE
        INSERT INTO orders VALUES (row_id, (ARRAY['open', 'paid', 'sent'])[1 + floor(random() * 3)::integer],
          1 + floor(random() * 1000)::integer, repeat('x', 1 + floor(random() * 300)::integer))
        ON CONFLICT (id) DO UPDATE SET status = excluded.status, total = excluded.total, notes = excluded.notes;
      END IF;
    END LOOP;
    IF random() < 0.05 THEN ROLLBACK; ELSE COMMIT; END IF;
  END LOOP;
END $$;`;

export async function connectTo(url: string): Promise<pg.Client> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  return client;
}

export const createHistoryTables = async (client: pg.Client): Promise<void> => void (await client.query(TABLES));

/** Runs transactions as long as `mayBegin` resolves to true for their number. Resolves to how many it ran. */
export async function writeWhile(url: string, mayBegin: (transactions: number) => Promise<boolean>): Promise<number> {
  const client = await connectTo(url);
  let transactions = 0;
  try {
    while (await mayBegin(TRANSACTIONS_OF_CALL)) {
      await client.query(`CALL write_transactions(${TRANSACTIONS_OF_CALL})`);
      transactions += TRANSACTIONS_OF_CALL;
    }
  } finally {
    await client.end();
  }
  return transactions;
}

const DIGEST_CHARACTERS = 10;
const digestOf = (text: string): string => createHash('md5').update(text).digest('hex').slice(0, DIGEST_CHARACTERS);
/** A row as PostgreSQL writes it. No value of these tables needs quotes. */
const textOf = (row: JsonObject): string => `(${Object.values(row).map(String).join(',')})`;

/** Returns the digest of a change that the history has for it. */
export const digestOfChange = (op: string, after: JsonObject, before: JsonObject | null): string =>
  digestOf([op, textOf(after), before === null ? '' : textOf(before)].join(' '));

/** Digests of the changes of each row, in the order in which they happened: millions of changes would not fit in memory. */
export class RowHistories {
  readonly #byRow: Map<number, string[]>;

  constructor(byRow = new Map<number, string[]>()) {
    this.#byRow = byRow;
  }

  get count(): number {
    return [...this.#byRow.values()].reduce((sum, digests) => sum + digests.length, 0);
  }

  add(row: number, digest: string): void {
    const digests = this.#byRow.get(row) ?? [];
    this.#byRow.set(row, digests);
    digests.push(digest);
  }

  /** Returns where the changes of a row differ first, for each row in which they do. */
  differences(from: RowHistories): readonly string[] {
    const rows = new Set([...this.#byRow.keys(), ...from.#byRow.keys()]);
    return [...rows].flatMap((row) => {
      const [mine, theirs] = [this.#byRow.get(row) ?? [], from.#byRow.get(row) ?? []];
      const at = mine.findIndex((digest, index) => digest !== theirs[index]);
      if (at < 0 && mine.length === theirs.length) return [];
      return [`row ${row}: change ${at < 0 ? mine.length : at} of ${mine.length} and ${theirs.length}`];
    });
  }
}

/** The history by row. A row is locked while it changes, so the order of its entries is commit order. */
export async function readHistory(client: pg.Client): Promise<RowHistories> {
  const { rows } = await client.query<{ id: string; digests: string }>(
    `SELECT id, string_agg(left(md5(concat(op, ' ', coalesce(after, before)::text, ' ', before::text)), ${DIGEST_CHARACTERS}), ','
       ORDER BY place) AS digests FROM history GROUP BY id`,
  );
  return new RowHistories(new Map(rows.map(({ id, digests }) => [Number(id), digests.split(',')])));
}
