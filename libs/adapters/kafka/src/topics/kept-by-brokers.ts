import type { Duration } from '@carillon/kernel';
import type { TopicName } from '@carillon/ports';
import kafkajs from 'kafkajs';
import type { KafkaConnection } from '../connection/options.ts';
import { withAdmin } from './ensure-topics.ts';

/** Brokers look for old segments every five minutes, and again later if they are busy. */
const BROKER_DELAY: Duration = 3_600_000;

/**
 * Returns how long the brokers keep records of these topics at most, by the settings of each topic. Null: forever. Kafka removes whole segments, so a record
 * stays as long as the newest one of its segment.
 */
export function keptByBrokers(
  connection: KafkaConnection,
  topics: readonly TopicName[],
): Promise<ReadonlyMap<TopicName, Duration | null>> {
  return withAdmin(connection, async (admin) => {
    const { resources } = await admin.describeConfigs({
      includeSynonyms: false,
      resources: topics.map((name) => ({ type: kafkajs.ConfigResourceTypes.TOPIC, name })),
    });
    return new Map(
      resources.map(({ resourceName, configEntries }) => {
        const settings = new Map(configEntries.map(({ configName, configValue }) => [configName, Number(configValue)]));
        const kept = settings.get('retention.ms') ?? -1;
        const segment = settings.get('segment.ms') ?? 0;
        return [resourceName as TopicName, kept < 0 ? null : kept + segment + BROKER_DELAY] as const;
      }),
    );
  });
}
