import { CarillonError } from '@carillon/kernel';
import type { Filter } from 'mongodb';

/**
 * Encodes a page's last document. The next page starts after it in list order, so new documents neither repeat nor hide
 * others. The text is opaque to clients.
 */
export const cursorAt = (...keys: readonly (number | string)[]): string =>
  Buffer.from(JSON.stringify(keys)).toString('base64url');

type Query = Readonly<Record<string, unknown>>;

/** One filter that says all that its parts say; no two parts speak of the same field. */
export const filterOf = <Kind>(...parts: readonly Query[]): Filter<Kind> => Object.assign({}, ...parts) as Filter<Kind>;

/** The fields that order a list, the deciding one last, each with the kind of its values. All descend, or all rise. */
export type Order = Readonly<Record<string, 'number' | 'string'>>;

type Direction = 'falling' | 'rising';

export const sortOf = (order: Order, direction: Direction = 'falling'): Record<string, 1 | -1> =>
  Object.fromEntries(Object.keys(order).map((field) => [field, direction === 'rising' ? 1 : -1]));

/** What comes after the cursor in a list of this order. A cursor that we did not make is refused. */
export function afterCursor(cursor: string | undefined, order: Order, direction: Direction = 'falling'): Query {
  if (cursor === undefined) return {};
  const fields = Object.keys(order);
  const values = valuesOf(cursor, order);
  const [first = ''] = fields;
  const [beyond, from] = direction === 'rising' ? ['$gt', '$gte'] : ['$lt', '$lte'];
  const steps = fields.map((field, at) => ({
    ...Object.fromEntries(fields.slice(0, at).map((before, place) => [before, values[place]])),
    [field]: { [beyond]: values[at] },
  }));
  // The bound on the first field is implied, but lets the index start at the right position.
  return { $and: [{ [first]: { [from]: values[0] } }, { $or: steps }] };
}

function valuesOf(cursor: string, order: Order): readonly (number | string)[] {
  const kinds = Object.values(order);
  try {
    const values: unknown = JSON.parse(Buffer.from(cursor, 'base64url').toString('utf8'));
    if (
      Array.isArray(values) &&
      values.length === kinds.length &&
      kinds.every((kind, at) => typeof values[at] === kind)
    ) {
      return values as (number | string)[];
    }
  } catch {
    // Falls through to the one refusal.
  }
  throw new CarillonError('invalid_request', 'the cursor does not belong to this list; start without a cursor');
}

/** Equality on each field that was asked for. Values come from outside and are values, never operators. */
export const equalities = (fields: Query): Query =>
  Object.fromEntries(
    Object.entries(fields)
      .filter(([, value]) => value !== undefined)
      .map(([field, value]) => [field, { $eq: value }]),
  );

/** Query of a span of time: at or after `since`, before `before`. */
export const within = (
  field: string,
  { since, before }: { readonly since?: number; readonly before?: number },
): Query =>
  since === undefined && before === undefined
    ? {}
    : { [field]: { ...(since !== undefined && { $gte: since }), ...(before !== undefined && { $lt: before }) } };

/** Query of recipients that begin with one of these. Where none is given, it finds nothing. */
export const beginsWithOneOf = (beginnings: readonly string[]): Readonly<Record<string, unknown>> =>
  beginnings.length === 0
    ? { recipient: { $in: [] } }
    : {
        $or: beginnings.map((beginning) => ({ recipient: { $gte: beginning, $lt: `${beginning}\u{10FFFF}` } })),
      };

/**
 * A condition on a field that only queued documents have. Said explicitly, because some servers use the index of a queue
 * only for questions that say it.
 */
export const queued = (condition: Query): { readonly $exists: true } & Query => ({ $exists: true, ...condition });

/** Cuts a list that was read one document too long, and says where the next page begins. */
export function pageOf<Row extends object, Item>(
  rows: readonly Row[],
  limit: number,
  item: (row: Row) => Item,
  order: Order,
): { readonly items: readonly Item[]; readonly next: string | null } {
  const shown = rows.slice(0, limit);
  const last = shown.at(-1) as Readonly<Record<string, number | string>> | undefined;
  const next = rows.length > limit && last ? cursorAt(...Object.keys(order).map((field) => last[field] ?? '')) : null;
  return { items: shown.map(item), next };
}

/**
 * Batch size for queries whose complete result is needed. The default of 100 needs a second round trip, for which some
 * databases keep a connection open. Larger results still come in batches.
 */
export const IN_ONE_ANSWER = { batchSize: 1_000 } as const;
