import { setTimeout as pause } from 'node:timers/promises';
import { CarillonError, type Duration, isCarillonError, messageOf } from '@carillon/kernel';
import type { Logger } from 'kafkajs';
import clusterClass from 'kafkajs/src/cluster/index.js';
import type { FetchAnswer, WantedRecords } from '../reading/fetch-response.ts';
import { type ClientSettings, createClient, FEW_RETRIES, type KafkaClient } from './client.ts';
import { isAbandoning, isDisconnection, isRefusal, isStale, staleError } from './faults.ts';
import type { KafkaConnection } from './options.ts';

/** kafkajs's view of the brokers, below its consumers and producers. */
export type Cluster = {
  readonly brokerPool: { readonly versions: Readonly<Record<string, { readonly maxVersion: number }>> | null };
  connect(): Promise<void>;
  refreshMetadata(): Promise<void>;
  refreshMetadataIfNecessary(): Promise<void>;
  addMultipleTargetTopics(topics: readonly string[]): Promise<void>;
  findTopicPartitionMetadata(topic: string): readonly { readonly partitionId: number; readonly leader: number }[];
  findGroupCoordinator(group: { readonly groupId: string }): Promise<ProtocolBroker>;
  findBroker(node: { readonly nodeId: string }): Promise<ProtocolBroker>;
};

type ClusterOptions = ClientSettings & {
  readonly retry: typeof FEW_RETRIES;
  readonly metadataMaxAge: number;
  readonly allowAutoTopicCreation: boolean;
  readonly isolationLevel: number;
  readonly logger: Logger;
};
const KafkaCluster = clusterClass as new (options: ClusterOptions) => Cluster;

type TopicList<Partition> = readonly { readonly topic: string; readonly partitions: readonly Partition[] }[];

/** A broker of kafkajs' protocol layer. Every call is one request. */
export type ProtocolBroker = {
  fetch(request: {
    readonly isolationLevel: number;
    readonly maxWaitTime: number;
    readonly minBytes: number;
    readonly maxBytes: number;
    readonly topics: TopicList<WantedRecords>;
  }): Promise<FetchAnswer>;
  listOffsets(request: {
    readonly isolationLevel: number;
    readonly topics: TopicList<{ readonly partition: number; readonly timestamp: number }>;
  }): Promise<{
    readonly responses: TopicList<{ readonly partition: number; readonly offset: string }>;
  }>;
  joinGroup(request: {
    readonly groupId: string;
    readonly sessionTimeout: number;
    readonly rebalanceTimeout: number;
    readonly memberId: string;
    readonly groupProtocols: readonly { readonly name: string; readonly metadata: Buffer }[];
  }): Promise<{
    readonly generationId: number;
    readonly leaderId: string;
    readonly memberId: string;
    readonly members: readonly { readonly memberId: string; readonly memberMetadata: Buffer }[];
  }>;
  syncGroup(request: {
    readonly groupId: string;
    readonly generationId: number;
    readonly memberId: string;
    readonly groupAssignment: readonly { readonly memberId: string; readonly memberAssignment: Buffer }[];
  }): Promise<{ readonly memberAssignment: Buffer }>;
  heartbeat(request: {
    readonly groupId: string;
    readonly groupGenerationId: number;
    readonly memberId: string;
  }): Promise<unknown>;
  leaveGroup(request: { readonly groupId: string; readonly memberId: string }): Promise<unknown>;
  offsetCommit(request: {
    readonly groupId: string;
    readonly groupGenerationId: number;
    readonly memberId: string;
    readonly topics: TopicList<{ readonly partition: number; readonly offset: string }>;
  }): Promise<unknown>;
};

/** Nobody writes transactions into our topics; what a foreign one left is read by all alike. */
export const READ_UNCOMMITTED = 0;

const METADATA_AGE_MS = 60_000;
const FIRST_PAUSE_MS = 30;
const MAX_PAUSE_MS = 500;

/** A way to the brokers that mends itself. */
export type Brokers = {
  /**
   * Does `work`, again and again while brokers come and go, until the deadline; then `log_unavailable`. Errors that
   * repeating cannot change are thrown as they are.
   */
  use<T>(what: string, deadline: Duration, work: (cluster: Cluster) => Promise<T>): Promise<T>;
  close(): void;
};

export function createBrokers(connection: KafkaConnection, topics: readonly string[]): Brokers {
  type Current = { readonly client: KafkaClient; readonly cluster: Promise<Cluster> };
  let current: Current | null = null;
  const closing = new AbortController();

  function open(): Current {
    const client = createClient(connection);
    const cluster = connectCluster(client, topics);
    cluster.catch(() => undefined);
    return { client, cluster };
  }

  /** Given up whole where no broker answers any more: what kafkajs remembers of its connections cannot be trusted. */
  function giveUp(failed: Current): void {
    failed.client.cut();
    if (current === failed) current = null;
  }

  return {
    async use(what, deadline, work) {
      const until = Date.now() + deadline;
      let delay = FIRST_PAUSE_MS;
      for (;;) {
        if (closing.signal.aborted) throw new CarillonError('stopping', `${what}: the log is closed`);
        current ??= open();
        const mine = current;
        let cause: unknown;
        try {
          const cluster = await mine.cluster;
          return await work(cluster);
        } catch (error) {
          if (isRefusal(error)) throw refused(what, error);
          if (isAbandoning(error)) throw error;
          cause = error;
        }
        if (isStale(cause) || isDisconnection(cause))
          await mine.cluster.then((cluster) => cluster.refreshMetadata()).catch(() => giveUp(mine));
        else giveUp(mine);
        if (Date.now() + delay > until) throw unavailable(what, cause);
        await pause(delay, undefined, { signal: closing.signal }).catch(() => undefined);
        delay = Math.min(delay * 2, MAX_PAUSE_MS);
      }
    },
    close() {
      closing.abort();
      current?.client.cut();
      current = null;
    },
  };
}

export const unavailable = (what: string, cause: unknown): CarillonError =>
  new CarillonError('log_unavailable', `${what}: ${messageOf(cause)}`, { retryAfter: 1000 }, { cause });

/** The brokers will not let us: a person has to change a credential, a right or a setting. */
export const refused = (what: string, cause: unknown): CarillonError =>
  isCarillonError(cause)
    ? cause
    : new CarillonError('invalid_configuration', `${what}: Kafka refused: ${messageOf(cause)}`, {}, { cause });

async function connectCluster(client: KafkaClient, topics: readonly string[]): Promise<Cluster> {
  const cluster = new KafkaCluster({
    ...client.settings,
    logger: client.kafka.logger(),
    retry: FEW_RETRIES,
    metadataMaxAge: METADATA_AGE_MS,
    allowAutoTopicCreation: false,
    isolationLevel: READ_UNCOMMITTED,
  });
  await cluster.connect();
  if (topics.length > 0) await cluster.addMultipleTargetTopics(topics);
  return cluster;
}

/** The broker that leads a partition now. Throws what counts as stale where there is none. */
export async function leaderOf(cluster: Cluster, topic: string, partition: number): Promise<ProtocolBroker> {
  await cluster.refreshMetadataIfNecessary();
  const found = cluster.findTopicPartitionMetadata(topic).find(({ partitionId }) => partitionId === partition);
  if (!found || found.leader < 0) {
    throw staleError(`${topic}/${partition} has no leader now`);
  }
  return cluster.findBroker({ nodeId: String(found.leader) });
}
