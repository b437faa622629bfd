import type { Duration, Instant } from '@carillon/kernel';
import type { BackendStores, Clock, AnyCollection, RowRetention } from '@carillon/ports';
import { createAttempts } from './attempts.ts';
import { collectionsOf } from './collections.ts';
import { connect, createClient, durableDatabase, type MongoCredentials, type MongoTls } from './connection.ts';
import { applyRowRetention } from './retention.ts';
import { createStoreEraser, type StoreEraser } from './erasure/store-eraser.ts';
import { wantedIndexes } from './schema/document-collections.ts';
import { establishSchema } from './schema/establish.ts';
import { fillDeliveries, fillInbox } from './schema/fill.ts';
import { WANTED, type WantedSchema } from './schema/wanted.ts';
import { createCheckpointStore } from './stores/checkpoints.ts';
import { createCohortStore } from './stores/cohort-store.ts';
import { createConfigurationStore } from './stores/configuration-store.ts';
import { createDeliveryLedger } from './stores/delivery-ledger.ts';
import { createDocuments } from './stores/documents.ts';
import { createDueTasks } from './stores/due-tasks.ts';
import { createKeyUseStore } from './stores/key-uses.ts';
import { createLeaseStore } from './stores/leases.ts';
import { createLookupClaims } from './stores/lookup-claims.ts';
import { createReadModels } from './stores/read-models.ts';
import { createRuleStateStore } from './stores/rule-states.ts';
import { createSuppressionList } from './stores/suppression-list.ts';
import { verifyStores, type StoreCheck } from './verify.ts';

export type MongoOptions = {
  /** `mongodb://` or `mongodb+srv://`; what else is given here wins over what it says. */
  readonly url: string;
  /** Holds nothing but what belongs to one deployment. */
  readonly database: string;
  readonly clock: Clock;
  /** Collections of `documents`. */
  readonly collections?: readonly AnyCollection[];
  readonly tls?: MongoTls | undefined;
  readonly credentials?: MongoCredentials | undefined;
  /** How long an operation is tried again while the server is away, before it rejects. */
  readonly patience?: Duration;
  /** How long an answer may take; more than a majority may take to hold a write. */
  readonly silence?: Duration;
  /** Gives other work a turn between two pages of an erasure. */
  readonly pause?: (() => Promise<unknown>) | undefined;
  /** Connections at most. */
  readonly poolSize?: number;
};

/** The stores of the cluster backend: any number of processes share one database. */
export type MongoStores = BackendStores & {
  readonly eraser: StoreEraser;
  /** Removes rows that are past their time; answers how many. */
  applyRetention(now: Instant, policy: RowRetention): Promise<number>;
  /** Resolves where the database answers; rejects with `store_unavailable` where it is away. */
  ping(): Promise<void>;
  /** What `doctor` says of the database; never rejects. */
  verify(): Promise<readonly StoreCheck[]>;
  /** Ends the connections; what comes after it rejects. Safe to call twice. */
  close(): Promise<void>;
};

const nextTurn = (): Promise<unknown> => new Promise((resolve) => setImmediate(resolve));

const RETRY_TIMEOUT_MS = 4000;
const SERVER_SELECTION_TIMEOUT_MS = 2000;
const SOCKET_TIMEOUT_MS = 7000;
const POOL_SIZE = 50;

/**
 * Connects, and creates or verifies collections and indexes. Rejects with CarillonError `store_unavailable` where the
 * server is away or refuses the credentials, and `store_differs` where what is there is not what has to be. Once open,
 * it finds back by itself after the server was away.
 */
export async function openMongo(options: MongoOptions): Promise<MongoStores> {
  const { url, tls, credentials, clock } = options;
  const patience = options.patience ?? RETRY_TIMEOUT_MS;
  const client = createClient({
    url,
    tls,
    credentials,
    serverSelection: Math.min(SERVER_SELECTION_TIMEOUT_MS, patience),
    silence: options.silence ?? SOCKET_TIMEOUT_MS,
    poolSize: options.poolSize ?? POOL_SIZE,
  });
  const { attempt, end } = createAttempts(patience);
  const db = durableDatabase(client, options.database);
  const declared = (options.collections ?? []).map((one) => [one.name, wantedIndexes(one)] as const);
  const schema: WantedSchema = { ...WANTED, ...Object.fromEntries(declared) };
  try {
    await connect(client, attempt);
    await establishSchema(db, schema, attempt);
    await fillDeliveries(db, attempt);
    await fillInbox(db, attempt);
  } catch (error) {
    await client.close();
    throw error;
  }
  const collections = collectionsOf(db);
  let closed: Promise<void> | null = null;
  const documents = createDocuments(db, attempt);
  return {
    documents,
    eraser: createStoreEraser(db, attempt, {
      documents,
      declared: options.collections ?? [],
      pause: options.pause ?? nextTurn,
    }),
    checkpoints: createCheckpointStore(collections, attempt),
    ruleStates: createRuleStateStore(collections, attempt, clock),
    cohorts: createCohortStore(collections, attempt),
    tasks: createDueTasks(collections, attempt),
    claims: createLookupClaims(collections, attempt),
    ledger: createDeliveryLedger(collections, attempt),
    suppressions: createSuppressionList(collections, attempt),
    configurationStore: createConfigurationStore(collections, attempt),
    leases: createLeaseStore(collections, attempt),
    readModels: createReadModels(collections, attempt, clock),
    keyUses: createKeyUseStore(collections, attempt),
    applyRetention: (now, policy) => applyRowRetention(collections, attempt, now, policy),
    async ping() {
      await attempt(() => db.command({ ping: 1 }));
    },
    verify: () => verifyStores(db, schema, collections, attempt),
    close() {
      end();
      closed ??= client.close();
      return closed;
    },
  };
}
