import { TOPICS } from '@carillon/contracts';
import type { TopicName } from '@carillon/ports';
import kafkajs, { type Admin } from 'kafkajs';
import { REPLICATION, settingsOf, type TopicDefinitions, type TopicOptions } from './settings.ts';

/** Something that is not as it has to be; `doctor` prints these, and a start refuses them. */
export type TopicDifference = {
  /** Name of the topic, or `broker` for what brokers do by themselves. */
  readonly topic: string;
  readonly setting: string;
  readonly found: string;
  readonly wanted: string;
  /** Whether `adjustTopics` changes it in place, so that a start does not refuse it. */
  readonly isAdjustable: boolean;
};

export type Inspection = {
  readonly missing: readonly TopicName[];
  readonly differences: readonly TopicDifference[];
};

/** Compares what is there with the definitions. Changes nothing. */
export async function inspectTopics(
  admin: Admin,
  definitions: TopicDefinitions,
  options: TopicOptions,
): Promise<Inspection> {
  const known = new Set(await admin.listTopics());
  const present = TOPICS.filter((topic) => known.has(topic));
  const missing = TOPICS.filter((topic) => !known.has(topic));
  const differences: TopicDifference[] = [];
  differences.push(...(await differingShapes(admin, present, definitions, options)));
  differences.push(...(await differingSettings(admin, present, definitions, options)));
  differences.push(...(await differingBrokers(admin)));
  return { missing, differences };
}

async function differingShapes(
  admin: Admin,
  present: readonly TopicName[],
  definitions: TopicDefinitions,
  { singleBroker }: TopicOptions,
): Promise<readonly TopicDifference[]> {
  if (present.length === 0) return [];
  const wantedCopies = singleBroker ? 1 : REPLICATION;
  const { topics } = await admin.fetchTopicMetadata({ topics: [...present] });
  return topics.flatMap(({ name, partitions }) => {
    const wanted = definitions[name as TopicName].partitions;
    const copies = Math.min(...partitions.map(({ replicas }) => replicas.length));
    const count = {
      topic: name,
      setting: 'partitions',
      found: String(partitions.length),
      wanted: String(wanted),
      isAdjustable: false,
    };
    const replication = {
      topic: name,
      setting: 'replication',
      found: String(copies),
      wanted: String(wantedCopies),
      isAdjustable: false,
    };
    return [
      ...(partitions.length === wanted ? [] : [count]),
      ...(copies >= wantedCopies ? [] : [{ ...replication, wanted: `${wantedCopies} or more` }]),
    ];
  });
}

export async function differingSettings(
  admin: Admin,
  present: readonly TopicName[],
  definitions: TopicDefinitions,
  options: TopicOptions,
): Promise<readonly TopicDifference[]> {
  if (present.length === 0) return [];
  const { resources } = await admin.describeConfigs({
    includeSynonyms: false,
    resources: present.map((name) => ({ type: kafkajs.ConfigResourceTypes.TOPIC, name })),
  });
  return resources.flatMap(({ resourceName, configEntries }) => {
    const topic = resourceName as TopicName;
    const found = new Map(configEntries.map(({ configName, configValue }) => [configName, configValue]));
    return settingsOf(topic, definitions[topic], options).flatMap(({ name, wanted, accepts, isAdjustable }) => {
      const value = found.get(name) ?? '';
      return accepts(value) ? [] : [{ topic, setting: name, found: value, wanted, isAdjustable: isAdjustable(value) }];
    });
  });
}

/** A broker that makes topics when somebody asks for them would make a deleted one again, empty and with its own settings. */
async function differingBrokers(admin: Admin): Promise<readonly TopicDifference[]> {
  const { brokers } = await admin.describeCluster();
  const name = 'auto.create.topics.enable';
  const { resources } = await admin.describeConfigs({
    includeSynonyms: false,
    resources: brokers.map(({ nodeId }) => ({
      type: kafkajs.ConfigResourceTypes.BROKER,
      name: String(nodeId),
      configNames: [name],
    })),
  });
  const values = resources.flatMap(({ configEntries }) => configEntries.map(({ configValue }) => configValue));
  return values.includes('true')
    ? [{ topic: 'broker', setting: name, found: 'true', wanted: 'false', isAdjustable: false }]
    : [];
}
