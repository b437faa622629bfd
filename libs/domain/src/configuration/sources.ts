import { listResources, type Configuration } from './configuration.ts';
import { hasTopics, isDatabase, isSource } from './integrations.ts';
import type { DatabaseIntegration, SourceIntegration, TopicsIntegration } from './resources.ts';
import { streamTable, type EventStream } from './streams.ts';

/** A table as one stream reads it. */
export type TableOfStream = {
  /** `schema.table`. */
  readonly table: string;
  /** Path of the key of its rows, such as `event.id`. */
  readonly key: string;
  /** Names of columns that never reach the log. */
  readonly without: readonly string[];
};

/** A topic as one stream reads it. */
export type TopicOfStream = {
  readonly topic: string;
  /** Path of the key of its records, such as `event.id`. */
  readonly key: string;
  /** Names of columns that never reach the log. Empty for topics of JSON. */
  readonly without: readonly string[];
};

/** A stream that reads a source. It has tables of a database or topics of a cluster; `format` of the stream says what a record is. */
export type SourceStream = {
  readonly stream: EventStream;
  readonly tables: readonly TableOfStream[];
  readonly topics: readonly TopicOfStream[];
};

/** An integration that is read, with the streams that read it. */
export type ConfiguredSource<Body extends SourceIntegration = SourceIntegration> = {
  readonly workspace: string;
  /** Name of the integration. */
  readonly name: string;
  readonly body: Body;
  /** Streams by EVENT_PATH. Empty if none reads the table. */
  readonly streams: readonly SourceStream[];
};

export type DatabaseSource = ConfiguredSource<DatabaseIntegration>;

/** Returns true if streams read tables of a source. */
export const isDatabaseSource = (source: ConfiguredSource): source is DatabaseSource => isDatabase(source.body);

export type TopicsSource = ConfiguredSource<TopicsIntegration>;

/** Returns true if streams read topics of a source. */
export const isTopicsSource = (source: ConfiguredSource): source is TopicsSource => hasTopics(source.body);

const known = new WeakMap<Configuration, readonly ConfiguredSource[]>();

/** Returns the sources of a configuration, by workspace and name. Computed once per configuration. */
export function sourcesOf(configuration: Configuration): readonly ConfiguredSource[] {
  const sources = known.get(configuration) ?? buildSources(configuration);
  known.set(configuration, sources);
  return sources;
}

function buildSources(configuration: Configuration): readonly ConfiguredSource[] {
  const streams = [...streamTable(configuration).streams.values()].toSorted((a, b) => (a.path < b.path ? -1 : 1));
  return listResources(configuration, 'integration').flatMap(({ ref: { workspace, name }, body }) => {
    if (!isSource(body)) return [];
    const reading = streams.filter((stream) => stream.workspace === workspace && stream.from?.integration === name);
    return [{ workspace, name, body, streams: reading.map(sourceStreamOf) }];
  });
}

const sourceStreamOf = (stream: EventStream): SourceStream => ({
  stream,
  tables: tablesOf(stream),
  topics: topicsOf(stream),
});

type From = Pick<EventStream, 'from'>;

/** Returns the tables of a stream, in the order of the file. */
export const tablesOf = ({ from }: From): readonly TableOfStream[] =>
  Object.entries(from?.tables ?? {}).map(([table, key]) => ({ table, key, without: columnsOf(table, from?.without) }));

/** Returns the topics of a stream, in the order of the file. */
export const topicsOf = ({ from }: From): readonly TopicOfStream[] =>
  Object.entries(from?.topics ?? {}).map(([topic, key]) => ({ topic, key, without: columnsOf(topic, from?.without) }));

const columnsOf = (place: string, without: readonly string[] = []): readonly string[] =>
  without.flatMap((column) => columnOf(place, column) ?? []);

/** Returns the name of a column that is written after its table or topic. Null if it belongs to another. */
export function columnOf(place: string, column: string): string | null {
  const name = column.startsWith(`${place}.`) ? column.slice(place.length + 1) : '';
  return name === '' ? null : name;
}
