/** A JSON Schema as OpenAPI 3.1 has it. */
export type Schema = Readonly<Record<string, unknown>>;
export type Schemas = Readonly<Record<string, Schema>>;

/** `asked`: what clients send must be taken still. `answered`: what they read must be there still. */
export type Direction = 'asked' | 'answered';

const LEAST = ['minimum', 'exclusiveMinimum', 'minLength', 'minItems'];
const MOST = ['maximum', 'exclusiveMaximum', 'maxLength', 'maxItems'];

/**
 * Finds what breaks clients between two schemas. Of a request, all that the old one allows must be allowed by the new one; of an answer,
 * all that the new one allows by the old one. Answers may have new fields, new words in an `enum` and other bounds.
 */
export function schemaChanges(before: Schemas, now: Schemas, direction: Direction) {
  const [inside, outside] = direction === 'asked' ? [before, now] : [now, before];
  const known = new Map<string, readonly string[]>();
  const asked = direction === 'asked';

  /** What of `inner` is not covered by `outer`. */
  function uncovered(inner: Schema, outer: Schema, place: string): readonly string[] {
    const [innerName, outerName] = [nameOf(inner), nameOf(outer)];
    if (innerName === null && outerName === null) return uncoveredParts(inner, outer, place);
    const at = innerName !== null && innerName === outerName ? innerName : place;
    const key = `${innerName ?? JSON.stringify(inner)} ${outerName ?? JSON.stringify(outer)} ${at}`;
    const found = known.get(key);
    if (found) return found;
    // Of a schema that holds itself, the part under way says nothing new.
    known.set(key, []);
    const all = uncovered(resolved(inner, innerName, inside), resolved(outer, outerName, outside), at);
    known.set(key, all);
    return all;
  }

  function uncoveredParts(inner: Schema, outer: Schema, place: string): readonly string[] {
    const outerAll = schemasIn(outer['allOf']);
    if (outerAll.length > 0) return outerAll.flatMap((one) => uncovered(inner, one, place));
    const innerAll = schemasIn(inner['allOf']);
    if (innerAll.length > 0) return fewest(innerAll.map((one) => uncovered(one, outer, place)));
    const [inners, outers] = [variantsOf(inner, inside), variantsOf(outer, outside)];
    if (inners.length > 1 || outers.length > 1) return inners.flatMap((one) => uncoveredByAny(one, outers, place));
    return [
      ...typeChanges(inner, outer, place),
      ...valueChanges(inner, outer, place),
      ...(asked ? boundChanges(inner, outer, place) : []),
      ...fieldChanges(inner, outer, place),
      ...itemChanges(inner, outer, place),
    ];
  }

  /** A variant of the same type tells more of what has changed than one of another type. */
  function uncoveredByAny(inner: Schema, outers: readonly Schema[], place: string): readonly string[] {
    const own = resolved(inner, nameOf(inner), inside);
    const alike = outers.filter((one) => typeChanges(own, resolved(one, nameOf(one), outside), place).length === 0);
    return fewest((alike.length > 0 ? alike : outers).map((one) => uncovered(inner, one, place)));
  }

  function typeChanges(inner: Schema, outer: Schema, place: string): readonly string[] {
    const types = typesOf(outer);
    if (types === null) return [];
    const missing = (typesOf(inner) ?? ['anything']).filter(
      (type) => !types.includes(type) && !(type === 'integer' && types.includes('number')),
    );
    return missing.map((type) => (asked ? `${place}: ${type} is taken no longer` : `${place}: may be ${type} now`));
  }

  function valueChanges(inner: Schema, outer: Schema, place: string): readonly string[] {
    const [own, allowed] = [valuesOf(inner), valuesOf(outer)];
    // A new word of an answer is for clients to pass over.
    if (allowed === null || (!asked && !('const' in outer))) return [];
    if (own === null) return [asked ? `${place}: takes certain values only` : `${place}: may be any value now`];
    const missing = own.filter((value) => !allowed.includes(value));
    return missing.map((value) => `${place}: ${value} ${asked ? 'is taken no longer' : 'may come now'}`);
  }

  function fieldChanges(inner: Schema, outer: Schema, place: string): readonly string[] {
    const [own, others] = [fieldsOf(inner), fieldsOf(outer)];
    const ownNeeded = neededOf(inner);
    const isClosed = outer['additionalProperties'] === false;
    const found = neededOf(outer).flatMap((name) => {
      if (ownNeeded.includes(name) || (!asked && !(name in own))) return [];
      return [asked ? `${place}.${name}: must be given now` : `${place}.${name}: may be missing now`];
    });
    for (const [name, schema] of Object.entries(own)) {
      const other = others[name];
      if (other) found.push(...uncovered(schema, other, `${place}.${name}`));
      else if (asked && isClosed) found.push(`${place}.${name}: is taken no longer`);
    }
    if (!asked) for (const name of Object.keys(others)) if (!(name in own)) found.push(`${place}.${name}: is gone`);
    const isOpen = typesOf(inner)?.includes('object') === true && inner['additionalProperties'] !== false;
    if (asked && isClosed && isOpen) found.push(`${place}: takes no other fields now`);
    return [...found, ...below(inner, outer, 'additionalProperties', `${place}.*`)];
  }

  function itemChanges(inner: Schema, outer: Schema, place: string): readonly string[] {
    const others = schemasIn(outer['prefixItems']);
    const first = schemasIn(inner['prefixItems']).flatMap((one, at) => {
      const other = others[at];
      return other ? uncovered(one, other, `${place}[${at}]`) : [];
    });
    const names = below(inner, outer, 'propertyNames', `${place} (names)`);
    return [...first, ...below(inner, outer, 'items', `${place}[]`), ...names];
  }

  /** Of answers alone, a schema that is there on one side only says nothing. */
  function below(inner: Schema, outer: Schema, key: string, place: string): readonly string[] {
    const [own, other] = [inner[key], outer[key]];
    if (!isSchema(other) || (!isSchema(own) && (!asked || typesOf(inner) === null || own === false))) return [];
    return uncovered(isSchema(own) ? own : {}, other, place);
  }

  return uncovered;
}

function boundChanges(inner: Schema, outer: Schema, place: string): readonly string[] {
  const narrower = (key: string, isNarrower: (own: number, other: number) => boolean, none: number): string[] => {
    const [own = none, other] = [inner[key], outer[key]];
    return typeof other === 'number' && isNarrower(Number(own), other) ? [`${place}: ${key} is ${other} now`] : [];
  };
  const { pattern } = outer;
  return [
    ...LEAST.flatMap((key) => narrower(key, (own, other) => other > own, key.startsWith('min') ? 0 : -Infinity)),
    ...MOST.flatMap((key) => narrower(key, (own, other) => other < own, Infinity)),
    ...(typeof pattern === 'string' && pattern !== inner['pattern'] && valuesOf(inner) === null
      ? [`${place}: has the pattern ${pattern} now`]
      : []),
  ];
}

const isSchema = (value: unknown): value is Schema =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
const schemasIn = (value: unknown): readonly Schema[] => (Array.isArray(value) ? value.filter(isSchema) : []);
const fewest = (found: readonly (readonly string[])[]): readonly string[] =>
  found.toSorted((a, b) => a.length - b.length)[0] ?? [];
const neededOf = ({ required }: Schema): readonly string[] => (Array.isArray(required) ? required.map(String) : []);
const fieldsOf = ({ properties }: Schema): Schemas => (isSchema(properties) ? (properties as Schemas) : {});

function nameOf({ $ref }: Schema): string | null {
  return typeof $ref === 'string' ? ($ref.split('/').at(-1) ?? null) : null;
}

function resolved(schema: Schema, name: string | null, schemas: Schemas): Schema {
  if (name === null) return schema;
  const named = schemas[name];
  if (!named) throw new Error(`the document has no schema ${name}`);
  return named;
}

/** The schemas of which one will do, those of a variant that has variants itself among them. */
function variantsOf(schema: Schema, schemas: Schemas): readonly Schema[] {
  const variants = [...schemasIn(schema['anyOf']), ...schemasIn(schema['oneOf'])];
  if (variants.length === 0) return [schema];
  return variants.flatMap((one) => {
    const parts = variantsOf(resolved(one, nameOf(one), schemas), schemas);
    return parts.length > 1 ? parts : [one];
  });
}

function typesOf(schema: Schema): readonly string[] | null {
  const { type } = schema;
  if (Array.isArray(type)) return type.map(String);
  if (typeof type === 'string') return [type];
  const values = 'const' in schema ? [schema['const']] : schema['enum'];
  return Array.isArray(values) ? [...new Set(values.map((one) => (one === null ? 'null' : typeof one)))] : null;
}

/** The only values that a schema allows, as JSON; null: others too. */
function valuesOf(schema: Schema): readonly string[] | null {
  const values = 'const' in schema ? [schema['const']] : schema['enum'];
  return Array.isArray(values) ? values.map((one) => JSON.stringify(one)) : null;
}
