import { randomBytes } from 'node:crypto';
import pg from 'pg';

type Row = Readonly<Record<string, unknown>>;

export type PostgresDatabase = {
  /** As the role `postgres`, which may do anything. */
  readonly url: string;
  readonly name: string;
  /** Runs statements, always in one session until the server is restarted. Returns the rows of the last. */
  run(sql: string, values?: readonly unknown[]): Promise<readonly Row[]>;
  /** The URL of another role, which is made with a random password if it is not there. `attributes`: such as `REPLICATION`. */
  createRole(attributes?: string): Promise<{ readonly role: string; readonly password: string; readonly url: string }>;
  /** Removes the database with its replication slots and its roles. */
  drop(): Promise<void>;
};

/** One connection, which is made again after the server was restarted. */
class Session {
  readonly #url: string;
  #client: Promise<pg.Client> | undefined;

  constructor(url: string) {
    this.#url = url;
  }

  async query(sql: string, values?: readonly unknown[]): Promise<readonly Row[]> {
    this.#client ??= this.#connect();
    const client = await this.#client;
    const result = await client.query<Row>(sql, values && [...values]);
    return [result].flat().at(-1)?.rows ?? [];
  }

  async end(): Promise<void> {
    await (await this.#client)?.end();
  }

  async #connect(): Promise<pg.Client> {
    const client = new pg.Client({ connectionString: this.#url });
    client.on('error', () => undefined);
    client.on('end', () => (this.#client = undefined));
    await client.connect();
    return client;
  }
}

const randomName = (): string => `t${randomBytes(6).toString('hex')}`;

/** Makes an empty database on a server of tests. `server`: the URL of its role `postgres`. */
export async function createPostgresDatabase(server: string): Promise<PostgresDatabase> {
  const name = randomName();
  const admin = new Session(server);
  await admin.query(`CREATE DATABASE ${name}`);
  const url = new URL(server);
  url.pathname = `/${name}`;
  const session = new Session(url.href);
  const roles: string[] = [];
  return {
    url: url.href,
    name,
    run: (sql, values) => session.query(sql, values),
    async createRole(attributes = '') {
      const role = randomName();
      const password = randomBytes(12).toString('hex');
      await admin.query(`CREATE ROLE ${role} LOGIN PASSWORD '${password}' ${attributes}`);
      roles.push(role);
      const own = new URL(url);
      own.username = role;
      own.password = password;
      return { role, password, url: own.href };
    },
    async drop() {
      for (const role of roles) await session.query(`DROP OWNED BY ${role} CASCADE`);
      await session.end();
      await admin.query('SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = $1', [name]);
      await dropSlots(admin, name);
      await admin.query(`DROP DATABASE ${name} WITH (FORCE)`);
      for (const role of roles) await admin.query(`DROP ROLE ${role}`);
      await admin.end();
    },
  };
}

/** A slot stays in use for a moment after its reader was ended. */
async function dropSlots(admin: Session, database: string): Promise<void> {
  for (let attempt = 0; ; attempt += 1) {
    try {
      await admin.query('SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots WHERE database = $1', [
        database,
      ]);
      return;
    } catch (error) {
      if (attempt >= 100) throw error;
      await admin.query('SELECT pg_sleep(0.02)');
    }
  }
}
