import type { TopicKind } from './record-kind.ts';

/** The topic of source events. Its values are the bytes received, so it has no schema, writer or reader. */
export const sourceEvents = {
  topic: 'carillon.events',
  owner: 'gateway',
  description: 'Source events as the bytes received, with markers and ticks; routing facts travel in headers.',
  key: 'stream and entity; the event id on a stream without a key',
  partitions: 8,
  retention: '30d',
} satisfies TopicKind;
