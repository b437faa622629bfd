import { isJsonObject, ok, err, type Json, type JsonObject, type Result } from '@carillon/kernel';
import { ADDRESS_KINDS, addressKind, type AddressKind, type Addresses } from '../channels/channel.ts';
import { identifier } from '../rules/recipient-parts.ts';
import { MAX_RECIPIENTS } from '../rules/recipients.ts';
import type { Lookup, LookupItem, LookupProblem } from './lookup.ts';

/** How an integration attributes the items of an answer to the ids that were asked. `none`: an item belongs to no id. */
export type Attribution =
  | { readonly kind: 'match'; readonly path: readonly string[] }
  | { readonly kind: 'in_order' }
  | { readonly kind: 'none' };

/** Items of an answer that could not be read, by their place, and why. */
type Unread = ReadonlyMap<number, string>;

/** Part of a partner's answer that belongs to one trigger. */
export type OwnAnswer = Pick<Lookup, 'items' | 'problems' | 'problemCounts'>;

/** Maximum problems listed singly. All are counted. */
const TOLD = 50;

/** Maximum fields and list items of one answer: fifty for each of five hundred people. */
export const MAX_ANSWER_VALUES = 25_000;

/** Every id once, in the order of first mention: what is asked. */
export const idsOf = (asked: readonly (readonly string[])[]): readonly string[] => [...new Set(asked.flat())];

/**
 * Gives each trigger of a shared call its own items. `asked` has the ids of each trigger. Returns an error text if an
 * item cannot be attributed. The triggers then ask one by one, where this never happens. `unread` items could not be
 * read: they are invalid, and do not affect the others.
 */
export function attribute(
  items: readonly Json[],
  asked: readonly (readonly string[])[],
  attribution: Attribution,
  unread: Unread = new Map(),
): Result<readonly OwnAnswer[], string> {
  const ids = idsOf(asked);
  const alone = asked.length === 1;
  const named = nameItems(items, ids, attribution, unread);
  if (!named.ok) return alone ? ok([standAlone(items, ids, [named.error], unread)]) : err(named.error.detail);
  if (named.value === null) {
    if (alone) return ok([standAlone(items, ids, [], unread)]);
    return err('the integration has neither match nor in_order, so items cannot be assigned to user ids');
  }
  const nameless = named.value.findIndex((userId) => userId === null);
  if (!alone && nameless >= 0) return err(`item ${nameless} has no user id`);
  const sorted = sortItems(named.value, new Set(ids));
  return ok(asked.map((own) => ownAnswer(items, sorted, own, unread)));
}

/** Assigns user ids to items. `undefined` marks an item that names an unknown user. Null: items cannot be assigned. */
function nameItems(
  items: readonly Json[],
  ids: readonly string[],
  attribution: Attribution,
  unread: Unread,
): Result<readonly (string | null | undefined)[] | null, LookupProblem> {
  switch (attribution.kind) {
    case 'none':
      return ok(null);
    case 'in_order':
      if (items.length === ids.length)
        return ok(items.map((item, index) => (item === null && !unread.has(index) ? undefined : ids[index])));
      return err({
        kind: 'not_in_order',
        index: null,
        userId: null,
        detail: `${ids.length} ids were asked in order and ${items.length} items were returned`,
      });
    case 'match':
      return ok(items.map((item) => identifier(valueAt(item, attribution.path))));
  }
}

function valueAt(item: Json, path: readonly string[]): Json {
  let value: Json | undefined = item;
  for (const step of path) {
    value = isJsonObject(value) && Object.hasOwn(value, step) ? value[step] : undefined;
  }
  return value ?? null;
}

/** Collects items and problems, both bounded: a hostile answer can be wrong a hundred thousand times. */
function collector(unread: Unread) {
  const items: LookupItem[] = [];
  const problems: LookupProblem[] = [];
  const problemCounts: Partial<Record<LookupProblem['kind'], number>> = {};
  function problem(found: LookupProblem): void {
    problemCounts[found.kind] = (problemCounts[found.kind] ?? 0) + 1;
    if (problems.length < TOLD) problems.push(found);
  }
  return {
    problem,
    /** More of a kind of which as many as are told came before. */
    count(kind: LookupProblem['kind'], more: number): void {
      if (more > 0) problemCounts[kind] = (problemCounts[kind] ?? 0) + more;
    },
    take(item: Json, index: number, userId: string | null): void {
      if (items.length >= MAX_RECIPIENTS)
        return problem({ kind: 'too_many', index, userId, detail: `beyond the ${MAX_RECIPIENTS} of one trigger` });
      const read = unread.has(index) ? err(unread.get(index) ?? '') : readItem(item);
      if (!read.ok) return problem({ kind: 'invalid', index, userId, detail: read.error });
      for (const detail of read.value.faults) problem({ kind: 'invalid_address', index, userId, detail });
      items.push({ userId, to: read.value.to, variables: read.value.variables });
    },
    end: (): OwnAnswer => ({ items, problems, problemCounts }),
  };
}

/** Items of a trigger that asked for itself: each is a recipient. One id asked: that is whom they are about. */
function standAlone(
  items: readonly Json[],
  ids: readonly string[],
  found: readonly LookupProblem[],
  unread: Unread,
): OwnAnswer {
  const own = collector(unread);
  for (const one of found) own.problem(one);
  const [only = null] = ids.length === 1 ? ids : [];
  for (const [index, item] of items.entries()) own.take(item, index, only);
  const fewer = ids.length - items.length;
  if (fewer > 0 && found.length === 0) {
    const detail = only === null ? `${items.length} items for ${ids.length} ids` : 'no item for this id';
    own.problem({ kind: 'missing', index: null, userId: only, detail });
  }
  return own.end();
}

/** Places of items in an answer: the first ones, and how many more there are. */
type Places = { readonly first: number[]; more: number };
type SortedItems = {
  /** Items by user id. The first item of an id counts. */
  readonly known: ReadonlyMap<string, Places>;
  /** Items about ids that nobody asked about. */
  readonly extra: Places;
  /** Items that do not say whom they are about. */
  readonly nameless: Places;
  readonly nameOf: (index: number) => string | null;
};

/** Once for all triggers of a call: a hundred of them must not go through ten thousand items each. */
function sortItems(names: readonly (string | null | undefined)[], asked: ReadonlySet<string>): SortedItems {
  const places = (): Places => ({ first: [], more: 0 });
  const known = new Map<string, Places>();
  const extra = places();
  const nameless = places();
  for (const [index, userId] of names.entries()) {
    if (userId === undefined) continue;
    let found = userId === null ? nameless : asked.has(userId) ? known.get(userId) : extra;
    if (!found) known.set(userId ?? '', (found = places()));
    if (found.first.length <= TOLD) found.first.push(index);
    else found.more += 1;
  }
  return { known, extra, nameless, nameOf: (index) => names[index] ?? null };
}

function ownAnswer(items: readonly Json[], sorted: SortedItems, own: readonly string[], unread: Unread): OwnAnswer {
  const { extra, nameless, nameOf } = sorted;
  const collected = collector(unread);
  const mine = new Map([...new Set(own)].map((userId) => [userId, sorted.known.get(userId)]));
  const found = [...mine.values()].filter((places) => places !== undefined);
  const told = [...found, extra, nameless].flatMap(({ first }) => first).toSorted((a, b) => a - b);
  for (const index of told) {
    const userId = nameOf(index);
    const places = userId === null ? undefined : mine.get(userId);
    if (userId === null)
      collected.problem({
        kind: 'invalid',
        index,
        userId,
        detail: unread.get(index) ?? 'it has no user id',
      });
    else if (!places) collected.problem({ kind: 'extra', index, userId, detail: 'this user id was not requested' });
    else if (places.first[0] === index) collected.take(items[index] ?? null, index, userId);
    else collected.problem({ kind: 'duplicate', index, userId, detail: 'only the first one is used' });
  }
  collected.count('invalid', nameless.more);
  collected.count('extra', extra.more);
  for (const { more } of found) collected.count('duplicate', more);
  for (const userId of own) {
    if (!mine.get(userId)) collected.problem({ kind: 'missing', index: null, userId, detail: 'no item for this id' });
  }
  return collected.end();
}

type ReadItem = { readonly to: Addresses; readonly variables: JsonObject; readonly faults: readonly string[] };

/** An item of the shape of specification 2.3, or what is wrong with it. */
function readItem(item: Json): Result<ReadItem, string> {
  if (!isJsonObject(item)) return err('it is not an object');
  const to = item['to'];
  const variables = item['variables'] ?? {};
  if (!isJsonObject(to)) return err('its `to` is not an object');
  if (!isJsonObject(variables)) return err('its `variables` is not an object');
  const unique = variables['unique_id'] ?? null;
  if (unique !== null && unique !== '' && identifier(unique) === null)
    return err('its `unique_id` is no text or number');
  const faults: string[] = [];
  const addresses: Record<AddressKind, string | null> = { email: null, phone: null, token: null };
  for (const key of ADDRESS_KINDS) {
    const value = to[key] ?? null;
    if (value === null) continue;
    if (typeof value !== 'string') return err(`its \`to.${key}\` is neither text nor null`);
    const kind = addressKind(key);
    addresses[key] = kind.canonical(value);
    if (addresses[key] === null) faults.push(`\`to.${key}\` is no ${kind.words}`);
  }
  return ok({ to: addresses, variables, faults });
}
