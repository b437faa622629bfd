import { isJsonObject, stringifyJson, type Instant, type Json, type JsonObject } from '@carillon/kernel';
import { jsonTypeOf, pathText, type FieldStep, type JsonType } from '@carillon/domain';
import type { FieldRow } from '@carillon/ports';

/** Paths of one stream and partition that are kept; what comes after that is not looked at. */
export const MOST_FIELDS = 200;
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
};

/**
 * Rows of a stream and partition after these events, those that changed. A row is what the log up to its offset says, so
 * an event that a row has in it already is passed over, and a batch may come again in any other cut.
 */
export function tallyFields(known: readonly FieldRow[], events: readonly SeenEvent[]): readonly FieldRow[] {
  const rows = new Map(known.map((row) => [row.path, row] as const));
  const changed = new Set<string>();
  for (const event of events) {
    for (const [path, sight] of sightsOf(event.body)) {
      const before = rows.get(path);
      if (before ? before.offset >= event.offset : rows.size >= MOST_FIELDS) continue;
      rows.set(path, after(before, path, event, sight));
      changed.add(path);
    }
  }
  return [...rows.values()].filter(({ path }) => changed.has(path));
}

function after(before: FieldRow | undefined, path: string, event: SeenEvent, sight: Sight): FieldRow {
  const { workspace, stream, partition, offset, at } = event;
  return {
    workspace,
    stream,
    partition,
    path,
    offset,
    count: (before?.count ?? 0) + 1,
    types: [...new Set([...(before?.types ?? []), ...sight.types])].toSorted(),
    sample: sight.sample ?? before?.sample ?? null,
    firstAt: before?.firstAt ?? at,
    lastAt: at,
  };
}

type Sight = { readonly types: Set<JsonType>; sample: string | null };

/** Every path of an event with the types and the first telling value found there. */
function sightsOf(body: JsonObject): ReadonlyMap<string, Sight> {
  const sights = new Map<string, Sight>();
  const visit = (value: Json, steps: readonly FieldStep[]): void => {
    const path = pathText(steps);
    if (path.length > LONGEST_PATH) return;
    const sight = sights.get(path) ?? { types: new Set(), sample: null };
    if (path !== '') sights.set(path, sight);
    sight.types.add(jsonTypeOf(value));
    const inside = steps.length < DEEPEST;
    if (isJsonObject(value)) {
      if (inside) for (const [name, item] of Object.entries(value)) visit(item, [...steps, name]);
    } else if (Array.isArray(value)) {
      const items: readonly Json[] = value;
      if (inside) for (const item of items.slice(0, ELEMENTS)) visit(item, [...steps, null]);
    } else if (value !== null) sight.sample ??= shortened(stringifyJson(value));
  };
  visit(body, []);
  return sights;
}

const shortened = (text: string): string =>
  text.length <= LONGEST_SAMPLE ? text : `${text.slice(0, LONGEST_SAMPLE - 1).toWellFormed()}…`;

/** What is known of one path over all partitions of a stream. */
export type StreamField = Pick<FieldRow, 'path' | 'types' | 'sample' | 'firstAt' | 'lastAt' | 'count'>;

/** Rows of all partitions as one list, by path. */
export function mergeFields(rows: readonly FieldRow[]): readonly StreamField[] {
  const fields = new Map<string, StreamField>();
  for (const { path, types, sample, firstAt, lastAt, count } of rows) {
    const other = fields.get(path);
    const newest = other && other.lastAt > lastAt ? other.sample : sample;
    fields.set(path, {
      path,
      types: [...new Set([...(other?.types ?? []), ...types])].toSorted(),
      sample: newest ?? other?.sample ?? sample,
      firstAt: Math.min(firstAt, other?.firstAt ?? firstAt),
      lastAt: Math.max(lastAt, other?.lastAt ?? lastAt),
      count: count + (other?.count ?? 0),
    });
  }
  return [...fields.values()].toSorted((a, b) => (a.path < b.path ? -1 : a.path > b.path ? 1 : 0));
}
