export { openKafkaHistory, type KafkaHistory } from './kafka-history.ts';
export { openKafkaLog, type KafkaLog, type KafkaLogOptions } from './kafka-log.ts';
export type { KafkaConnection, KafkaLogLine, KafkaSasl, KafkaTls } from './connection/options.ts';
export { ensureTopics, inspectKafka, type EnsuredTopics, type EnsureTopicsOptions } from './topics/ensure-topics.ts';
export { adjustTopics } from './topics/adjust-topics.ts';
export { createTopicSources, type TopicSourcesOptions } from './source/topic-sources.ts';
export { readIdentity, type LogIdentity } from './topics/identity.ts';
export type { Inspection, TopicDifference } from './topics/inspect.ts';
export type { TopicDefinition, TopicDefinitions, TopicOptions } from './topics/settings.ts';
