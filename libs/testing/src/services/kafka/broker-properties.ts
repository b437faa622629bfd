import { securedListener, type KafkaSecurity } from './secured-listener.ts';

/** Where one node listens. */
export type NodeAddress = {
  readonly id: number;
  readonly broker: number;
  readonly controller: number;
  /** For clients with TLS and a password, where there is such a listener. */
  readonly secured?: number;
};

export type BrokerSettings = {
  readonly security?: KafkaSecurity | undefined;
  /** Properties to add or override. */
  readonly properties?: Readonly<Record<string, string>> | undefined;
};

const HOST = '127.0.0.1';

/**
 * Returns the configuration of a node that is broker and controller. Internal topics are small and timeouts short,
 * because tests cover what clients see. Durable as far as replication allows (three nodes: two in sync).
 */
export function brokerProperties(
  node: NodeAddress,
  nodes: readonly NodeAddress[],
  dataDir: string,
  { security, properties: more }: BrokerSettings = {},
): string {
  const replicas = String(nodes.length);
  const inSync = String(Math.max(1, nodes.length - 1));
  const properties: Readonly<Record<string, string>> = {
    'process.roles': 'broker,controller',
    'node.id': String(node.id),
    'controller.quorum.voters': nodes.map(({ id, controller }) => `${id}@${HOST}:${controller}`).join(','),
    listeners: `PLAINTEXT://${HOST}:${node.broker},CONTROLLER://${HOST}:${node.controller}`,
    'advertised.listeners': `PLAINTEXT://${HOST}:${node.broker}`,
    'controller.listener.names': 'CONTROLLER',
    'inter.broker.listener.name': 'PLAINTEXT',
    'listener.security.protocol.map': 'CONTROLLER:PLAINTEXT,PLAINTEXT:PLAINTEXT',
    'log.dirs': dataDir,
    'auto.create.topics.enable': 'false',
    'num.partitions': '3',
    'default.replication.factor': replicas,
    'min.insync.replicas': inSync,
    'offsets.topic.replication.factor': replicas,
    'offsets.topic.num.partitions': '8',
    'transaction.state.log.replication.factor': replicas,
    'transaction.state.log.min.isr': inSync,
    'transaction.state.log.num.partitions': '8',
    'share.coordinator.state.topic.replication.factor': replicas,
    'share.coordinator.state.topic.min.isr': inSync,
    'group.initial.rebalance.delay.ms': '0',
    // The usual 128 MB do not fit into a heap this small.
    'log.cleaner.dedupe.buffer.size': '2097152',
    // After a kill a broker is let in again only when its former session has run out.
    'broker.session.timeout.ms': '3000',
    'broker.heartbeat.interval.ms': '200',
  };
  const all = security ? securedListener(properties, node.secured ?? 0, security) : properties;
  return Object.entries({ ...all, ...more })
    .map(([key, value]) => `${key}=${value}\n`)
    .join('');
}
