import { isAlwaysKept, type NamedRetention } from '@carillon/domain/configuration';
import { durationOr, type Duration } from '@carillon/kernel';
import { perTopic, TOPICS, type TopicName } from './topics.ts';

/** How long the records of each topic are kept. Null: forever. */
export type TopicRetention = Readonly<Record<TopicName, Duration | null>>;

const keptFor = (retention: string): Duration | null =>
  retention === 'forever' ? null : durationOr(retention, Number.POSITIVE_INFINITY);

/** Retention in a new data folder and a new cluster, as `schemas/topics` says. */
export const DEFAULT_TOPIC_RETENTION: TopicRetention = perTopic(({ retention }) => keptFor(retention));

/** Retention in a data folder that a release made which had no setting for it. */
export const EARLIER_FOLDER_RETENTION: TopicRetention = perTopic(({ retention, embeddedRetention }) =>
  keptFor(embeddedRetention ?? retention),
);

/** Topics whose retention nobody sets. */
export const ALWAYS_KEPT_TOPICS: ReadonlySet<TopicName> = new Set(
  TOPICS.filter((topic) => isAlwaysKept(keyOfTopic(topic))),
);

/** Returns the key of `retention` for a topic: `dead_letters` for `carillon.dead-letters`. */
export function keyOfTopic(topic: TopicName): string {
  return topic.replace('carillon.', '').replaceAll('-', '_');
}

/** Returns the retention that the configuration names, and `defaults` for all other topics. */
export const withNamedRetention = (named: NamedRetention, defaults: TopicRetention): TopicRetention => ({
  ...defaults,
  ...namedTopics(named),
});

/** Returns the retention that the configuration names, by topic. */
export function namedTopics(named: NamedRetention): Partial<TopicRetention> {
  const byKey = new Map(Object.entries(named));
  return Object.fromEntries(
    TOPICS.flatMap((topic) => {
      const kept = byKey.get(keyOfTopic(topic));
      return kept === undefined ? [] : [[topic, kept]];
    }),
  );
}

/** How long rows are kept that describe records of the log. Null: forever. */
export type RowRetention = {
  /** Rows of events and of duplicates, and fields that no event had for so long. */
  readonly events: Duration | null;
  readonly evaluations: Duration | null;
  /** Users who left a cohort. */
  readonly leftCohorts: Duration | null;
  /** Tasks that are done. */
  readonly tasks: Duration | null;
  /** Which lookup counts for a trigger. */
  readonly claims: Duration | null;
};

/**
 * Returns the retention of rows. Rows against which repeats are checked stay at least as long as by default, also if their topic is kept
 * shorter: a partner would be asked again, or a person notified again.
 */
export function rowRetentionOf(topics: TopicRetention): RowRetention {
  const atLeastDefault = (topic: TopicName): Duration | null => {
    const [kept, least] = [topics[topic], DEFAULT_TOPIC_RETENTION[topic]];
    return kept === null || least === null ? null : Math.max(kept, least);
  };
  return {
    events: topics['carillon.events'],
    evaluations: topics['carillon.evaluations'],
    leftCohorts: atLeastDefault('carillon.cohorts'),
    tasks: atLeastDefault('carillon.triggers'),
    claims: atLeastDefault('carillon.lookups'),
  };
}
