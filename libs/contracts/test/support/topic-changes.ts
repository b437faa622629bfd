import { parseDuration } from '@carillon/kernel';

/** What `schemas/topics` says about one topic. */
export type TopicFile = {
  readonly topic: string;
  readonly key: string;
  readonly value: string;
  readonly partitions: number;
  readonly retention: string;
  readonly dead_letter: string | null;
};

const keptFor = (retention: string): number => {
  if (retention === 'forever') return Number.POSITIVE_INFINITY;
  const span = parseDuration(retention);
  return span.ok ? span.value : 0;
};

/**
 * What an update would take from those who run a released version: topics are never renamed or given other partitions,
 * since positions and keys say where things are; what a record is and where the unreadable goes stay; nothing leaves earlier.
 */
export function topicChanges(released: readonly TopicFile[], current: readonly TopicFile[]): readonly string[] {
  return released.flatMap((before) => {
    const now = current.find(({ topic }) => topic === before.topic);
    if (!now) return [`${before.topic} is gone`];
    const fixed = (['key', 'value', 'partitions', 'dead_letter'] as const).flatMap((name) =>
      now[name] === before[name] || before[name] === null
        ? []
        : [`${before.topic}: ${name} was ${before[name]} and is ${now[name]}`],
    );
    const shorter = keptFor(now.retention) < keptFor(before.retention);
    return [
      ...fixed,
      ...(shorter ? [`${before.topic}: was kept ${before.retention} and is kept ${now.retention}`] : []),
    ];
  });
}
