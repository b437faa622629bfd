import { listResources, type Configuration } from './configuration.ts';
import { isSource } from './integrations.ts';
import type { SourceIntegration } from './resources.ts';
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

export type SourceStream = { readonly stream: EventStream; readonly tables: readonly TableOfStream[] };

/** An integration that is read, with the streams that read it. */
export type ConfiguredSource = {
  readonly workspace: string;
  /** Name of the integration. */
  readonly name: string;
  readonly body: SourceIntegration;
  /** By EVENT_PATH. Empty if no stream reads it. */
  readonly streams: readonly SourceStream[];
};

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
    return [{ workspace, name, body, streams: reading.map((stream) => ({ stream, tables: tablesOf(stream) })) }];
  });
}

/** Returns the tables of a stream, in the order of the file. */
export function tablesOf({ from }: Pick<EventStream, 'from'>): readonly TableOfStream[] {
  const { tables = {}, without = [] } = from ?? {};
  return Object.entries(tables).map(([table, key]) => ({
    table,
    key,
    without: without.flatMap((column) => (isColumnOf(table, column) ? [column.slice(table.length + 1)] : [])),
  }));
}

/** Returns true if `schema.table.column` names a column of this table. */
export const isColumnOf = (table: string, column: string): boolean => column.startsWith(`${table}.`);
