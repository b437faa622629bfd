import { TOPICS } from '@carillon/contracts';
import kafkajs, { type Admin } from 'kafkajs';
import type { KafkaConnection } from '../connection/options.ts';
import { withAdmin } from './ensure-topics.ts';
import { differingSettings, type TopicDifference } from './inspect.ts';
import type { TopicDefinitions, TopicOptions } from './settings.ts';

/**
 * Changes retention and segments of topics in place where they differ. Resolves to what was changed. Any number of processes may do it
 * at once. Rejects with CarillonError `invalid_configuration` if the brokers do not permit it, after it has changed all other topics.
 */
export function adjustTopics(
  connection: KafkaConnection,
  definitions: TopicDefinitions,
  options: TopicOptions,
): Promise<readonly TopicDifference[]> {
  return withAdmin(connection, async (admin) => {
    const known = new Set(await admin.listTopics());
    const present = TOPICS.filter((topic) => known.has(topic));
    const differences = await differingSettings(admin, present, definitions, options);
    const adjustable = differences.filter(({ isAdjustable }) => isAdjustable);
    const topics = new Set(adjustable.map(({ topic }) => topic));
    const faults: unknown[] = [];
    for (const name of topics) {
      const changed = adjustable.filter(({ topic }) => topic === name);
      await change(admin, name, changed).catch((error: unknown) => faults.push(error));
    }
    if (faults.length > 0) throw faults[0];
    return adjustable;
  });
}

/** The request that kafkajs makes replaces all settings of the topic, so that the others are sent along as they are. */
async function change(admin: Admin, name: string, differences: readonly TopicDifference[]): Promise<void> {
  const type = kafkajs.ConfigResourceTypes.TOPIC;
  const { resources } = await admin.describeConfigs({ includeSynonyms: false, resources: [{ type, name }] });
  const own = (resources[0]?.configEntries ?? []).filter(
    ({ configSource }) => configSource === kafkajs.ConfigSource.TOPIC_CONFIG,
  );
  const settings = new Map(own.map(({ configName, configValue }) => [configName, configValue]));
  for (const { setting, wanted } of differences) settings.set(setting, wanted);
  const configEntries = [...settings].map(([setting, value]) => ({ name: setting, value }));
  await admin.alterConfigs({ validateOnly: false, resources: [{ type, name, configEntries }] });
}
