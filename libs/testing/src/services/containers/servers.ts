import { messageOf } from '@carillon/kernel';
import { MongoClient } from 'mongodb';
import { livingBrokers } from '../kafka/kafka.ts';
import { answersWell } from '../registry/registry.ts';
import type { Service } from '../service.ts';
import { hasEngine, startContainer, type ContainerService } from './container.ts';
import { imagesOf, type ContainerName } from './images.ts';

/** One node with one replica, as small as the broker that starts without a container engine: broker-properties.ts. */
const startKafka = (image: string): Promise<ContainerService> =>
  startContainer({
    image,
    port: 9092,
    started: /Kafka Server started/,
    answers: async (address) => (await livingBrokers(address)).length === 1,
    with: (container, address) =>
      container.withEnvironment({
        KAFKA_NODE_ID: '1',
        KAFKA_PROCESS_ROLES: 'broker,controller',
        KAFKA_CONTROLLER_QUORUM_VOTERS: '1@127.0.0.1:9094',
        KAFKA_LISTENERS: 'PLAINTEXT://:9092,INSIDE://127.0.0.1:9093,CONTROLLER://127.0.0.1:9094',
        KAFKA_ADVERTISED_LISTENERS: `PLAINTEXT://${address},INSIDE://127.0.0.1:9093`,
        KAFKA_LISTENER_SECURITY_PROTOCOL_MAP: 'PLAINTEXT:PLAINTEXT,INSIDE:PLAINTEXT,CONTROLLER:PLAINTEXT',
        KAFKA_INTER_BROKER_LISTENER_NAME: 'INSIDE',
        KAFKA_CONTROLLER_LISTENER_NAMES: 'CONTROLLER',
        KAFKA_AUTO_CREATE_TOPICS_ENABLE: 'false',
        KAFKA_NUM_PARTITIONS: '3',
        KAFKA_OFFSETS_TOPIC_REPLICATION_FACTOR: '1',
        KAFKA_OFFSETS_TOPIC_NUM_PARTITIONS: '8',
        KAFKA_TRANSACTION_STATE_LOG_REPLICATION_FACTOR: '1',
        KAFKA_TRANSACTION_STATE_LOG_MIN_ISR: '1',
        KAFKA_SHARE_COORDINATOR_STATE_TOPIC_REPLICATION_FACTOR: '1',
        KAFKA_SHARE_COORDINATOR_STATE_TOPIC_MIN_ISR: '1',
        KAFKA_GROUP_INITIAL_REBALANCE_DELAY_MS: '0',
        KAFKA_HEAP_OPTS: '-Xms64m -Xmx384m',
      }),
  });

/** A replica set of one; what takes writes from the start, as FerretDB does, is left as it is. */
async function startMongoDb(image: string): Promise<ContainerService & { readonly url: string }> {
  const urlAt = (address: string): string => `mongodb://${address}/?directConnection=true`;
  const server = await startContainer({
    image,
    port: 27_017,
    started: /Waiting for connections/,
    answers: (address) => isPrimary(urlAt(address)),
    with: (container) => container.withCommand(['--replSet', 'carillon', '--bind_ip_all']),
  });
  return { ...server, url: urlAt(server.address) };
}

/** Whether it takes writes. One that is in no replica set yet is made the first member of one, and is asked again. */
async function isPrimary(url: string): Promise<boolean> {
  const client = new MongoClient(url, { serverSelectionTimeoutMS: 5000 });
  try {
    const admin = client.db('admin');
    const { isWritablePrimary, setName } = await admin.command({ hello: 1 });
    const members = [{ _id: 0, host: '127.0.0.1:27017' }];
    if (!isWritablePrimary && setName === undefined) {
      await admin.command({ replSetInitiate: { _id: 'carillon', members } });
    }
    return Boolean(isWritablePrimary);
  } finally {
    await client.close();
  }
}

async function startRegistry(image: string): Promise<ContainerService & { readonly url: string }> {
  const urlAt = (address: string): string => `http://${address}/apis/ccompat/v7`;
  const server = await startContainer({
    image,
    port: 8080,
    started: /Listening on/,
    answers: (address) => answersWell(`${urlAt(address)}/subjects`),
    with: (container) => container,
  });
  return { ...server, url: urlAt(server.address) };
}

const START = {
  kafka: startKafka,
  mongodb: startMongoDb,
  registry: startRegistry,
} as const satisfies Readonly<Record<ContainerName, (image: string) => Promise<ContainerService>>>;

export type InContainer<Name extends ContainerName> = Awaited<ReturnType<(typeof START)[Name]>>;

/**
 * Starts the server in a container if an engine runs and has the image or can pull it; otherwise returns undefined.
 * Logs which, and why not if an engine runs. The server can be killed and restarted like a local process, but its
 * folder is not accessible.
 */
export async function startInContainer<Name extends ContainerName>(
  name: Name,
): Promise<(Service & InContainer<Name>) | undefined> {
  const image = imagesOf()[name];
  if (!(await hasEngine())) return undefined;
  try {
    const server = (await START[name](image)) as InContainer<Name>;
    console.info(`${name}: a container of ${image}`);
    return server;
  } catch (error) {
    console.info(`${name}: not in a container, because none of ${image} could be started: ${messageOf(error)}`);
    return undefined;
  }
}
