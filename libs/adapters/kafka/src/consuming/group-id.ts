import type { TopicName } from '@carillon/ports';

export const DEFAULT_GROUP_PREFIX = 'carillon.';

export const groupIdOf = (prefix: string, group: string, topic: TopicName): string =>
  `${prefix}${group}.${topic.replace('carillon.', '')}`;
