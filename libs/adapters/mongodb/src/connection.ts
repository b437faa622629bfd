import { CarillonError, isCarillonError, messageOf, type Duration } from '@carillon/kernel';
import {
  MongoClient,
  ReadConcern,
  ReadPreference,
  WriteConcern,
  type Db,
  type DbOptions,
  type MongoClientOptions,
} from 'mongodb';
import type { Attempt } from './attempts.ts';
import { endCommandsWithTheirConnection } from './ended-connections.ts';

/** PEM text, as the secrets of a deployment hold it. */
export type MongoTls = {
  /** Authorities that may have signed the server; left out: those of the machine. */
  readonly ca?: string;
  /** Certificate and key that the client presents if the server asks for them. */
  readonly cert?: string;
  readonly key?: string;
};

export type MongoCredentials = {
  readonly username: string;
  readonly password: string;
  /** Database that knows the user; left out: `admin`. */
  readonly authSource?: string;
};

export type ConnectionSettings = {
  readonly url: string;
  readonly tls?: MongoTls | undefined;
  readonly credentials?: MongoCredentials | undefined;
  /** How long one try looks for a server that can take it. */
  readonly serverSelection: Duration;
  /** A server that takes the bytes and says nothing (stopped, or cut off) is given up after this. */
  readonly silence: Duration;
  readonly poolSize: number;
};

/** How long a majority may take to hold a write; beyond it the write is of unknown outcome. */
const MAJORITY_TIMEOUT_MS = 5000;

/**
 * Durability options for every operation, which the URL cannot weaken: writes are acknowledged by a journaled majority,
 * and reads return only majority-committed data, so that an election cannot roll back the basis of a decision. Reads go
 * to the primary by default.
 */
const DURABLE: DbOptions = {
  writeConcern: new WriteConcern('majority', MAJORITY_TIMEOUT_MS, true),
  readConcern: new ReadConcern('majority'),
  readPreference: ReadPreference.primary,
};

export const durableDatabase = (client: MongoClient, name: string): Db => client.db(name, DURABLE);

function clientOptions(settings: ConnectionSettings): MongoClientOptions {
  const { tls, credentials } = settings;
  return {
    appName: 'carillon',
    serverSelectionTimeoutMS: settings.serverSelection,
    connectTimeoutMS: settings.serverSelection,
    socketTimeoutMS: settings.silence,
    waitQueueTimeoutMS: settings.silence,
    maxPoolSize: settings.poolSize,
    ...(tls && { tls: true, ...tls }),
    ...(credentials && {
      auth: { username: credentials.username, password: credentials.password },
      authSource: credentials.authSource ?? 'admin',
    }),
  };
}

/** A client that has not connected yet. The message of a refused URL never repeats it: a URL may hold a password. */
export function createClient(settings: ConnectionSettings): MongoClient {
  endCommandsWithTheirConnection();
  try {
    return new MongoClient(settings.url, clientOptions(settings));
  } catch (error) {
    const words = messageOf(error).replaceAll(settings.url, 'it');
    throw new CarillonError('invalid_configuration', `the URL of the database cannot be used: ${words}`);
  }
}

/**
 * Connects, before anything is asked: after a first connection that failed, operations only hear that the client is
 * closed. What it rejects with names the servers, and nothing else of the URL.
 */
export async function connect(client: MongoClient, attempt: Attempt): Promise<void> {
  try {
    await attempt(() => client.connect());
  } catch (error) {
    if (!isCarillonError(error)) throw error;
    const { hosts, srvHost } = client.options;
    const where = srvHost ?? hosts.map(String).join(', ');
    throw new CarillonError(error.code, `${where}: ${error.detail}`, error.facts, { cause: error.cause });
  }
}
