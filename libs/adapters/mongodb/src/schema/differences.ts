import type { Document } from 'mongodb';
import type { WantedIndex } from './wanted.ts';

/** Description of an index without its name. Equal texts mean equal behavior. */
type Shape = string;

/** Fields of an index description that say nothing of what it does. */
const SILENT: ReadonlySet<string> = new Set(['v', 'name', 'ns', 'background', 'storageEngine']);
/** Meaning of absent fields. */
const USUAL: Readonly<Record<string, unknown>> = { unique: false, sparse: false, hidden: false };

/** Order matters among the keys and nowhere else. */
function shapeOf(index: Document): Shape {
  const { key, ...rest } = index as Readonly<Record<string, unknown>>;
  const told = Object.entries(rest)
    .filter(([field, value]) => !SILENT.has(field) && USUAL[field] !== value)
    .toSorted(([one], [other]) => (one < other ? -1 : 1))
    .map(([field, value]) => [field, field === 'partialFilterExpression' ? sorted(value as object) : value]);
  return JSON.stringify({ key, ...Object.fromEntries(told) });
}

const sorted = (value: object): object =>
  Object.fromEntries(Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1)));

/** The options of `createIndexes` for a wanted index. */
export function descriptionOf(wanted: WantedIndex): { key: Record<string, 1 | -1>; name: string } & Document {
  return {
    key: { ...wanted.key },
    name: wanted.name,
    ...(wanted.unique && { unique: true }),
    ...(wanted.where && {
      partialFilterExpression: Object.fromEntries(wanted.where.map((field) => [field, { $exists: true }])),
    }),
  };
}

export type IndexDifferences = {
  readonly missing: readonly WantedIndex[];
  /** Sentences: what stands where something else should, and what would refuse or remove our documents. */
  readonly wrong: readonly string[];
};

/**
 * Compares the indexes of a collection with the required ones. An equal index with another name is accepted. Additional
 * indexes are accepted unless they are unique or delete documents.
 */
export function compareIndexes(
  collection: string,
  found: readonly Document[],
  wanted: readonly WantedIndex[],
): IndexDifferences {
  const missing: WantedIndex[] = [];
  const wrong: string[] = [];
  const shapes = new Set(found.map(shapeOf));
  const wantedShapes = new Set(wanted.map((one) => shapeOf(descriptionOf(one))));
  for (const one of wanted) {
    const shape = shapeOf(descriptionOf(one));
    if (shapes.has(shape)) continue;
    const rival = found.find(
      (index) => index['name'] === one.name || JSON.stringify(index['key']) === JSON.stringify(one.key),
    );
    if (rival) wrong.push(`${collection}, index ${one.name}: found ${shapeOf(rival)}, wanted ${shape}`);
    else missing.push(one);
  }
  for (const index of found) {
    if (index['name'] === '_id_' || wantedShapes.has(shapeOf(index))) continue;
    const name = String(index['name']);
    if (wanted.some((one) => one.name === name)) continue;
    if (index['unique'] === true || index['expireAfterSeconds'] !== undefined) {
      const does = index['unique'] === true ? 'refuse' : 'remove';
      wrong.push(`${collection}, index ${name}: found ${shapeOf(index)}, wanted none that may ${does} documents`);
    }
  }
  return { missing, wrong };
}

/** Options of a collection under which ids would no longer be single or documents would not stay. */
const UNWANTED = ['capped', 'collation', 'timeseries', 'expireAfterSeconds', 'validator', 'clusteredIndex', 'viewOn'];

/** What is wrong with a collection itself. */
export function compareCollection(found: { readonly name: string } & Document): readonly string[] {
  const options = (found['options'] ?? {}) as Document;
  const set = UNWANTED.filter((option) => options[option] !== undefined && options[option] !== false);
  const kind = found['type'] === undefined || found['type'] === 'collection' ? [] : [`type ${String(found['type'])}`];
  const unwanted = [...kind, ...set.map((option) => `${option} ${JSON.stringify(options[option])}`)];
  return unwanted.map((one) => `${found.name}: found ${one}, wanted a plain collection`);
}
