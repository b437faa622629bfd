import { isJsonObject, stringifyJson, type Instant, type Json, type JsonObject } from '@carillon/kernel';
import { jsonTypeOf, pathInside, type JsonType } from '@carillon/domain/events';
import type { FieldRow } from '@carillon/ports';

/** Maximum field paths stored per stream and partition. Further paths are ignored. */
export const MAX_FIELDS = 200;
/** Characters of a sample. It is data of persons: enough to recognise a value, not to keep it. */
export const LONGEST_SAMPLE = 60;
const LONGEST_PATH = 200;
const DEEPEST = 8;
/** Elements of a list that are looked at: they are usually alike. */
const ELEMENTS = 20;

/** An event of one stream, as far as its fields go. */
export type SeenEvent = {
  readonly workspace: string;
  readonly stream: string;
  readonly partition: number;
  readonly offset: number;
  readonly at: Instant;
  readonly body: JsonObject;
  /** Table of a change. Null for an event that was sent. */
  readonly table: string | null;
};

/**
 * Rows of a stream and partition after these events, those that changed. A row is what the log up to its offset says, so
 * an event that a row has in it already is passed over, and a batch may come again in any other cut.
 */
export function tallyFields(known: readonly FieldRow[], events: readonly SeenEvent[]): readonly FieldRow[] {
  const tallies = new Map<string, Tally>(known.map((row) => [row.path, tallyFrom(row)]));
  for (const event of events) tallyEvent(event, tallies);
  return [...tallies].flatMap(([path, tally]) => (tally.last ? [rowOf(path, tally, tally.last)] : []));
}

/** Values of one path in a batch, converted to rows once per batch. */
type Tally = {
  readonly before: FieldRow | null;
  readonly types: Set<JsonType>;
  readonly tables: Set<string>;
  /** How many events of the batch have it, and the first and the last of them. */
  count: number;
  first: SeenEvent | null;
  last: SeenEvent | null;
  /** The first telling value of the last event that has one. */
  sample: Scalar | null;
  sampled: SeenEvent | null;
};
type Scalar = string | number | bigint | boolean;

const tallyFrom = (before: FieldRow | null): Tally => ({
  before,
  types: new Set(before?.types),
  tables: new Set(before?.tables),
  count: 0,
  first: null,
  last: null,
  sample: null,
  sampled: null,
});

/** Adds every path of an event, with the types and the first telling value found there. */
function tallyEvent(event: SeenEvent, tallies: Map<string, Tally>): void {
  const visit = (value: Json, path: string, depth: number): void => {
    if (path.length > LONGEST_PATH) return;
    if (path !== '') see(value, path);
    if (depth >= DEEPEST) return;
    if (Array.isArray(value)) {
      const items: readonly Json[] = value;
      for (const item of items.slice(0, ELEMENTS)) visit(item, pathInside(path, null), depth + 1);
    } else if (isJsonObject(value)) {
      for (const [name, item] of Object.entries(value)) visit(item, pathInside(path, name), depth + 1);
    }
  };
  function see(value: Json, path: string): void {
    const known = tallies.get(path);
    if (!known && tallies.size >= MAX_FIELDS) return;
    const tally = known ?? tallyFrom(null);
    if (!known) tallies.set(path, tally);
    if (tally.last !== event) {
      if ((tally.last ?? tally.before ?? NEVER).offset >= event.offset) return;
      tally.count += 1;
      tally.first ??= event;
      tally.last = event;
    }
    tally.types.add(jsonTypeOf(value));
    if (event.table !== null) tally.tables.add(event.table);
    if (typeof value === 'object' || tally.sampled === event) return;
    tally.sample = value;
    tally.sampled = event;
  }
  visit(event.body, '', 0);
}

const NEVER = { offset: -1 };

function rowOf(path: string, { before, types, tables, count, first, sample }: Tally, last: SeenEvent): FieldRow {
  const { workspace, stream, partition, offset, at } = last;
  return {
    workspace,
    stream,
    partition,
    path,
    offset,
    count: (before?.count ?? 0) + count,
    types: [...types].toSorted(),
    tables: [...tables].toSorted(),
    sample: sample === null ? (before?.sample ?? null) : shortened(stringifyJson(sample)),
    firstAt: before?.firstAt ?? first?.at ?? at,
    lastAt: at,
  };
}

const shortened = (text: string): string =>
  text.length <= LONGEST_SAMPLE ? text : `${text.slice(0, LONGEST_SAMPLE - 1).toWellFormed()}…`;

/** A field of a stream over all partitions. */
export type StreamField = Pick<FieldRow, 'path' | 'types' | 'tables' | 'sample' | 'firstAt' | 'lastAt' | 'count'>;

/** Rows of all partitions as one list, by path. */
export function mergeFields(rows: readonly FieldRow[]): readonly StreamField[] {
  const fields = new Map<string, StreamField>();
  for (const { path, types, tables, sample, firstAt, lastAt, count } of rows) {
    const other = fields.get(path);
    const newest = other && other.lastAt > lastAt ? other.sample : sample;
    fields.set(path, {
      path,
      types: [...new Set([...(other?.types ?? []), ...types])].toSorted(),
      tables: [...new Set([...(other?.tables ?? []), ...tables])].toSorted(),
      sample: newest ?? other?.sample ?? sample,
      firstAt: Math.min(firstAt, other?.firstAt ?? firstAt),
      lastAt: Math.max(lastAt, other?.lastAt ?? lastAt),
      count: count + (other?.count ?? 0),
    });
  }
  return [...fields.values()].toSorted((a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : 0));
}
