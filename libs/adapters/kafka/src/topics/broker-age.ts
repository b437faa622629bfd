import { CarillonError } from '@carillon/kernel';
import { createBrokers } from '../connection/cluster.ts';
import type { KafkaConnection } from '../connection/options.ts';

/**
 * Required requests by their number, with the version that Carillon is tested with. Kafka 2.3 to 3.9 support all of
 * them.
 */
const NEEDED: Readonly<Record<string, { readonly name: string; readonly version: number }>> = {
  0: { name: 'Produce', version: 7 },
  1: { name: 'Fetch', version: 10 },
  2: { name: 'ListOffsets', version: 3 },
  3: { name: 'Metadata', version: 6 },
  8: { name: 'OffsetCommit', version: 5 },
  11: { name: 'JoinGroup', version: 5 },
  12: { name: 'Heartbeat', version: 3 },
  14: { name: 'SyncGroup', version: 3 },
  22: { name: 'InitProducerId', version: 1 },
};

const TIMEOUT_MS = 10_000;

/** Refuses brokers that are too old: without record headers or producer ids nothing here holds. */
export async function refuseOldBroker(connection: KafkaConnection): Promise<void> {
  const brokers = createBrokers(connection, []);
  try {
    const versions = await brokers.use(
      'asking for versions',
      TIMEOUT_MS,
      async (cluster) => cluster.brokerPool.versions,
    );
    const lacking = Object.entries(NEEDED).flatMap(([key, { name, version }]) => {
      const found = versions?.[key]?.maxVersion;
      return found !== undefined && found >= version ? [] : [`${name} ${found ?? 'not at all'} (needs ${version})`];
    });
    if (lacking.length === 0) return;
    throw new CarillonError(
      'invalid_configuration',
      `the broker at ${connection.brokers.join(', ')} is too old: ${lacking.join(', ')}. Carillon runs on Kafka 3.9 and newer`,
    );
  } finally {
    brokers.close();
  }
}
