import type { Socket } from 'node:net';
import { allowAddress } from '@carillon/domain/changes';
import type { AddressGuard, GuardedAddress, SourceTarget } from '@carillon/ports';
import pg from 'pg';
import type { Access } from '../access.ts';
import { failureOf, isNetworkError, offersNoTls } from './connection-errors.ts';
import { waiting, type SourceFailure } from './source-failure.ts';
import { readSourceUrl, type SourceUrl } from './source-url.ts';
import { chooseTls, type TlsWish } from './tls.ts';

/** The database's own settings would shape the text of values (docs/decisions/0074). */
const SESSION = {
  timezone: 'UTC',
  datestyle: 'ISO',
  intervalstyle: 'iso_8601',
  bytea_output: 'hex',
  extra_float_digits: '1',
  // A schema of the user may have functions with the names of those that we call.
  search_path: 'pg_catalog',
};

const CONNECT_TIMEOUT_MS = 10_000;
const STATEMENT_TIMEOUT_MS = 30_000;
const KEEP_ALIVE_DELAY_MS = 10_000;
/** Time for which a server may take to close a connection. */
const END_TIMEOUT_MS = 2_000;

/** `replication` streams changes and takes replication commands; `sql` takes statements. */
type Kind = 'sql' | 'replication';

export type Connection = {
  readonly client: pg.Client;
  /** Runs one statement. Rejects with SourceFailure, or with the error of the server if `raw` is set. */
  query(sql: string, values?: readonly unknown[]): Promise<readonly Row[]>;
  /** Returns the state that an error of this connection leads to. */
  failure(error: unknown): SourceFailure;
  readonly url: SourceUrl;
  readonly route: Route;
  end(): Promise<void>;
};

/** The address that a connection leads to, and how it is encrypted. */
type Route = { readonly address: string; readonly tls: TlsWish };

export type Row = Readonly<Record<string, unknown>>;

/**
 * Connects to a database. The name is resolved once, every address is judged by the guard, and the connection goes to one of
 * those. `beside` leads to the server of another connection, because a name may lead elsewhere when it is resolved again.
 * Rejects with SourceFailure.
 */
export async function connect(
  { guard, timing }: Access,
  target: SourceTarget,
  kind: Kind,
  beside: Connection | null = null,
): Promise<Connection> {
  const url = readSourceUrl(target.url);
  if (typeof url === 'string') throw waiting('wrong_url', url);
  const routes = beside === null ? await findRoutes(guard, target, url) : [beside.route];
  let error: unknown;
  for (const route of routes) {
    try {
      const client = await connectTo(route, url, { kind, lockTimeoutMs: timing.lockTimeoutMs });
      return connectionOf(client, url, route, timing.answerMs);
    } catch (caught) {
      error = caught;
      if (!isNetworkError(caught)) break;
    }
  }
  throw failureOf(error, url);
}

async function findRoutes(guard: AddressGuard, target: SourceTarget, url: SourceUrl): Promise<readonly Route[]> {
  const addresses = await allowedAddresses(guard, url.host);
  const tls = chooseTls(
    url,
    target.ca,
    addresses.every(({ isPublic }) => !isPublic),
  );
  return addresses.map(({ address }) => ({ address, tls }));
}

async function allowedAddresses(guard: AddressGuard, host: string): Promise<readonly GuardedAddress[]> {
  const resolved = await guard.resolve(host);
  if (resolved.ok) return resolved.value;
  const { detail, fix } = allowAddress(host, resolved.error.reason !== 'refused_address');
  throw waiting('refused_address', detail, fix);
}

type Wish = { readonly kind: Kind; readonly lockTimeoutMs: number };

async function connectTo({ address, tls }: Route, url: SourceUrl, wish: Wish): Promise<pg.Client> {
  if (tls.use === 'never') return open(address, url, false, wish);
  try {
    return await open(address, url, tls.options, wish);
  } catch (error) {
    if (tls.use === 'preferred' && offersNoTls(error)) return open(address, url, false, wish);
    throw error;
  }
}

async function open(address: string, url: SourceUrl, ssl: pg.ClientConfig['ssl'], wish: Wish): Promise<pg.Client> {
  const settings: Readonly<Record<string, string | number>> = {
    ...SESSION,
    lock_timeout: wish.lockTimeoutMs,
    ...(wish.kind === 'sql' && { statement_timeout: STATEMENT_TIMEOUT_MS }),
  };
  const client = new pg.Client({
    // All values are set, because `pg` reads missing ones from the environment of the process.
    host: address,
    port: url.port,
    user: url.user,
    // A function, so that an empty password is not looked up in a file of the machine.
    password: () => url.password,
    database: url.database,
    ssl,
    sslnegotiation: 'postgres',
    application_name: 'carillon',
    client_encoding: 'UTF8',
    options: Object.entries(settings)
      .map(([name, value]) => `-c ${name}=${value}`)
      .join(' '),
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_DELAY_MS,
    ...(wish.kind === 'replication' && { replication: 'database' }),
  });
  // Without a listener, an error between two statements would end the process.
  client.on('error', () => undefined);
  await client.connect();
  return client;
}

const connectionOf = (client: pg.Client, url: SourceUrl, route: Route, answerMs: number): Connection => ({
  client,
  url,
  route,
  failure: (error) => failureOf(error, url),
  async query(sql, values) {
    // `pg` reads the timeout of a single query, which its types leave out.
    const query = { text: sql, query_timeout: answerMs, ...(values !== undefined && { values: [...values] }) };
    return (await client.query<Row>(query)).rows;
  },
  end: () => endClient(client),
});

/** Does not wait for a host that is gone. */
async function endClient(client: pg.Client): Promise<void> {
  const { stream } = (client as unknown as { readonly connection: { readonly stream: Socket } }).connection;
  const timer = setTimeout(() => stream.destroy(), END_TIMEOUT_MS);
  await client.end().catch(() => undefined);
  clearTimeout(timer);
}
