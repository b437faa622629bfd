import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { openKafkaLog, type KafkaLog } from '@carillon/adapter-kafka';
import { openMongo, type MongoStores } from '@carillon/adapter-mongodb';
import { createSchemaRegistry } from '@carillon/adapter-schema-registry';
import { systemClock } from '@carillon/adapter-system';
import { COLLECTIONS } from '@carillon/stores';
import { cli, untilFound } from '@carillon/testing';
import {
  startCluster,
  startClusterServices,
  type Cluster,
  type ClusterServices,
  type Member,
} from '@carillon/testing/cluster';
import { MongoClient } from 'mongodb';
import { DEFAULT_TIMING } from '../../../apps/engine/src/sources/source-ports.ts';
import { evaluateAgain, isEvaluated, type Intents } from '../evaluate-again.ts';
import { killableReading, KillOrders, type ReadingOrder } from '../killed-reading.ts';

/** A bound against standing still. */
const TIMEOUT_MS = 5 * 60_000;

/** Between two looks. Each one takes time from the engines. */
const LOOK_MS = 200;

/**
 * Looks again until there is an answer, after an error too: a broker or store of a busy machine may not answer in time. Throws with
 * the last error as the cause if no answer comes.
 */
export async function untilAnswered<Answer>(what: string, look: () => Promise<Answer | undefined>): Promise<Answer> {
  const deadline = Date.now() + TIMEOUT_MS;
  for (;;) {
    let failure: unknown;
    const answer = await look().catch((error: unknown) => {
      failure = error;
      return undefined;
    });
    if (answer !== undefined) return answer;
    if (Date.now() > deadline) throw new Error(`not within ${TIMEOUT_MS} ms: ${what}`, { cause: failure });
    await pause(LOOK_MS);
  }
}

/** Times of a take-over: an engine was killed or stopped, and the store gave the lease to another one. */
export type TakeOver = { readonly stoppedAt: number; readonly leasedAt: number };

export type ReadingClusterOptions = {
  /** Everything that a test writes is below it. */
  readonly folder: string;
  /** `shop/shop-db`. */
  readonly source: string;
  readonly env: Readonly<Record<string, string>>;
  readonly deliveries?: number;
};

/** Two engines of a cluster, of which one reads a source. It is killed or stopped, while the other is ready to go on. */
export class ReadingCluster {
  readonly services: ClusterServices;
  readonly #options: ReadingClusterOptions;
  readonly #orders: KillOrders;
  readonly #mongo: MongoClient;
  #cluster: Cluster | undefined;
  #log: KafkaLog | undefined;
  #stores: MongoStores | undefined;
  /** The engine that was killed last starts again while the other reads. */
  #restarting: Promise<unknown> = Promise.resolve();

  private constructor(services: ClusterServices, options: ReadingClusterOptions) {
    this.services = services;
    this.#options = options;
    this.#orders = new KillOrders(join(options.folder, 'kill-order'));
    this.#mongo = new MongoClient(services.mongodb.url);
  }

  static async create(options: ReadingClusterOptions): Promise<ReadingCluster> {
    return new ReadingCluster(await startClusterServices(), options);
  }

  get #dataDir(): string {
    return join(this.#options.folder, 'data');
  }

  get log(): KafkaLog {
    if (this.#log === undefined) throw new Error('the cluster has not begun');
    return this.#log;
  }

  get #engines(): readonly Member[] {
    return this.#cluster?.of('engine') ?? [];
  }

  /** Starts the roles, applies a configuration and waits until an engine reads. */
  async begin(files: Readonly<Record<string, string>>): Promise<void> {
    const { env, deliveries = 0, folder } = this.#options;
    this.#cluster = await startCluster({
      services: this.services,
      dataDir: this.#dataDir,
      members: { gateway: 0, engine: 2, delivery: deliveries },
      env: { ...env, ...killableReading(this.#orders.file) },
    });
    const configuration = join(folder, 'configuration');
    for (const [path, text] of Object.entries(files)) {
      await mkdir(dirname(join(configuration, path)), { recursive: true });
      await writeFile(join(configuration, path), text);
    }
    const applied = await cli(['apply', '-f', configuration], { dataDir: this.#dataDir, env: this.#cluster.env });
    if (applied.code !== 0) throw new Error(applied.stderr);
    const { kafka, mongodb } = this.services;
    this.#log = await openKafkaLog({ connection: { brokers: kafka.brokers, clientId: 'proof' } });
    const database = { url: mongodb.url, database: 'carillon', clock: systemClock };
    this.#stores = await openMongo({ ...database, collections: COLLECTIONS });
    await this.#untilReading();
  }

  /** The engine whose metrics have the source. */
  async #reading(): Promise<Member | undefined> {
    for (const engine of this.#engines) {
      if (!engine.running) continue;
      const metrics = await fetch(`${engine.health}/metrics`, { signal: AbortSignal.timeout(2_000) }).then(
        (answer) => answer.text(),
        () => '',
      );
      if (/^carillon_source_state\{.*state="running".*\} 1$/m.test(metrics)) return engine;
    }
    return undefined;
  }

  /** Resolves to when another engine took the lease or renewed it, as the store says. The engine that was stopped cannot. */
  #untilTaken(stoppedAt: number): Promise<number> {
    const leases = this.#mongo.db('carillon').collection<{ _id: string; until: number }>('leases');
    return untilAnswered('another engine with the lease', async () => {
      const lease = await leases.findOne({ _id: `source ${this.#options.source}` });
      const leasedAt = (lease?.until ?? 0) - DEFAULT_TIMING.leaseMs;
      return leasedAt > stoppedAt ? leasedAt : undefined;
    });
  }

  #untilReading(): Promise<Member> {
    return untilAnswered('the engine that reads', () => this.#reading());
  }

  /** Kills the engine that reads at a batch, or at once. The other engine is ready before. */
  async kill(order: ReadingOrder | null): Promise<TakeOver> {
    await this.#restarting;
    const reading = await this.#untilReading();
    if (order === null) await reading.kill('SIGKILL');
    else this.#orders.give(order);
    const killed = await untilFound('the kill', () => this.#engines.find(({ running }) => !running), TIMEOUT_MS);
    const stoppedAt = this.#orders.takeBack() ?? Date.now();
    const leasedAt = await this.#untilTaken(stoppedAt);
    this.#restarting = untilAnswered('the killed engine', () => killed.restart().then(() => true as const));
    this.#restarting.catch(() => undefined);
    return { stoppedAt, leasedAt };
  }

  /** Stops the engine that reads, and lets it go on once `untilRead` says that the other one has read for a while. */
  async freeze(untilRead: () => Promise<unknown>): Promise<TakeOver> {
    await this.#restarting;
    const reading = await this.#untilReading();
    await reading.kill('SIGSTOP');
    const stoppedAt = Date.now();
    const leasedAt = await this.#untilTaken(stoppedAt);
    await untilRead();
    await reading.kill('SIGCONT');
    return { stoppedAt, leasedAt };
  }

  /** Waits until everything on the log is evaluated, then ends the roles. */
  async end(): Promise<void> {
    await this.#restarting;
    const { checkpoints } = this.#stores ?? {};
    if (checkpoints === undefined) throw new Error('the cluster has not begun');
    const areEvaluated = async (): Promise<true | undefined> => (await isEvaluated(this.log, checkpoints)) || undefined;
    await untilAnswered('everything evaluated', areEvaluated);
    await this.#cluster?.stop();
  }

  /** Ends the registry and the stores, then evaluates the log again. */
  async evaluateAgain(leaveServers: () => Promise<unknown>): Promise<Intents> {
    const registry = createSchemaRegistry({ url: this.services.registry.url });
    return evaluateAgain(this.log, registry, this.#dataDir, async () => {
      registry.close();
      await this.#stores?.close();
      await Promise.all([leaveServers(), this.services.registry.stop(), this.services.mongodb.stop()]);
    });
  }

  async stop(): Promise<void> {
    await this.#restarting.catch(() => undefined);
    await this.#cluster?.stop();
    await this.#log?.close();
    await this.#mongo.close();
    await this.services.stop();
  }
}

/** Seconds from the end of an engine to the first record that another one appended. `times`: those of records. */
export function secondsUntilRead({ stoppedAt, leasedAt }: TakeOver, times: readonly number[]): number {
  const next = times.reduce(
    (first, time) => (time >= leasedAt && time < first ? time : first),
    Number.POSITIVE_INFINITY,
  );
  return (next - stoppedAt) / 1000;
}
