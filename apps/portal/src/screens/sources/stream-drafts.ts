import type { Bodies } from '../../api/draft-calls.ts';
import { pathText } from '../rule/form-rows.ts';
import type { DatabaseTable } from './queries.ts';

/** A table to read: its key column and the columns that never reach the log. */
export type ChosenTable = { readonly name: string; readonly key: string; readonly without: readonly string[] };

/** A topic to read, and the path of its key. */
export type ChosenTopic = { readonly name: string; readonly key: string };

/** Path that the key of a topic has until a person changes it. */
export const TOPIC_KEY = 'event.id';

/** What a record of a topic is. */
export type Format = NonNullable<Bodies['streams']['format']>;
export const FORMATS = [
  { id: 'json', name: 'JSON: a record is an event' },
  { id: 'debezium', name: 'Debezium: a record is a change of a row' },
] as const;

/** `each`: a stream for each table or topic, by its name. `one`: one stream for all. */
export type Layout =
  | { readonly kind: 'each'; readonly names: Readonly<Record<string, string>> }
  | { readonly kind: 'one'; readonly name: string };

export type NewStream = { readonly name: string; readonly body: Bodies['streams'] };

/** Returns a name for the stream of a table or topic: `orders` of `public.orders`, `crm-contacts` of `crm.contacts`. */
export function streamNameOf(table: string, taken: readonly string[]): string {
  const plain = table
    .replace(/^public\./, '')
    .toLowerCase()
    .replaceAll(/[^a-z0-9]+/g, '-')
    .slice(0, 60)
    .replaceAll(/^-|-$/g, '');
  const base = plain === '' ? 'stream' : plain;
  for (let at = 1; ; at += 1) {
    const name = at === 1 ? base : `${base}-${at}`;
    if (!taken.includes(name)) return name;
  }
}

/** Returns the column that events of a table are ordered by: the first of its primary key, else its first column. */
export const keyColumnOf = ({ columns }: Pick<DatabaseTable, 'columns'>): string =>
  (columns.find(({ key }) => key) ?? columns[0])?.name ?? '';

/** Path of a column in an event, as `from` names it: `event.id`. */
export const keyPathOf = (column: string): string => pathText(['event', column]);

/** Returns the streams that read the chosen tables. */
export function streamsOf(integration: string, chosen: readonly ChosenTable[], layout: Layout): readonly NewStream[] {
  const stream = (name: string, tables: readonly ChosenTable[]): NewStream => {
    const without = tables.flatMap(({ name: table, without: columns }) =>
      columns.map((column) => `${table}.${column}`),
    );
    return {
      name,
      body: {
        from: {
          integration,
          tables: Object.fromEntries(tables.map(({ name: table, key }) => [table, keyPathOf(key)])),
          ...(without.length > 0 && { without }),
        },
      },
    };
  };
  return laidOut(chosen, layout, stream);
}

/** Returns the streams that read the chosen topics. */
export function topicStreamsOf(
  integration: string,
  format: Format,
  chosen: readonly ChosenTopic[],
  layout: Layout,
): readonly NewStream[] {
  const stream = (name: string, topics: readonly ChosenTopic[]): NewStream => ({
    name,
    body: {
      ...(format !== 'json' && { format }),
      from: { integration, topics: Object.fromEntries(topics.map(({ name: topic, key }) => [topic, key])) },
    },
  });
  return laidOut(chosen, layout, stream);
}

function laidOut<Item extends { readonly name: string }>(
  chosen: readonly Item[],
  layout: Layout,
  stream: (name: string, items: readonly Item[]) => NewStream,
): readonly NewStream[] {
  if (layout.kind === 'one') return chosen.length === 0 ? [] : [stream(layout.name, chosen)];
  return chosen.map((item) => stream(layout.names[item.name] ?? streamNameOf(item.name, []), [item]));
}

/** Key of `from` that holds what a stream reads. */
export type Reads = 'tables' | 'topics';

/** Returns the names of the streams that read a table or topic of an integration. */
export function streamsReading(
  integration: string,
  reads: Reads,
  name: string,
  streams: readonly NewStream[],
): readonly string[] {
  const reading = streams.filter(
    ({ body: { from } }) => from?.integration === integration && Object.hasOwn(from[reads] ?? {}, name),
  );
  return [...new Set(reading.map((stream) => stream.name))];
}

const PLAIN_NAME = /^[a-z_][a-z0-9_]*$/;
const quote = (name: string): string => `"${name.replaceAll('"', '""')}"`;

/** SQL that makes the database send the whole row before an update or delete. */
export function fullSql(table: string): string {
  const dot = table.indexOf('.');
  const [schema, name] = [table.slice(0, dot), table.slice(dot + 1)];
  // A table may be called as a keyword without quotes, a schema may not.
  return `ALTER TABLE ${schema === 'public' ? schema : quote(schema)}.${PLAIN_NAME.test(name) ? name : quote(name)} REPLICA IDENTITY FULL;`;
}
