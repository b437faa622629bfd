import { PRIVACY, type Privacy } from '@carillon/contracts';
import { z } from 'zod';
import type { Principal } from '../principal.ts';
import { maskAddress, maskText } from './masked-text.ts';

/** Context while walking a response. */
type Place = {
  /** Returns true if values of this workspace are masked. Null: values of the deployment. */
  readonly hides: (workspace: string | null) => boolean;
  /** True if the current value is masked. */
  readonly isHidden: boolean;
  /** Addresses next to the value or in enclosing objects. */
  readonly known: readonly string[];
};

/** Null if no described value can name a recipient. */
type Mask = ((value: unknown, place: Place) => unknown) | null;

const privacyOf = (schema: z.ZodType): Privacy | undefined => schema.meta()?.[PRIVACY] as Privacy | undefined;

const textMask: NonNullable<Mask> = (value, { isHidden, known }) =>
  isHidden && typeof value === 'string' ? maskText(value, known) : value;

const addressMask: NonNullable<Mask> = (value, { isHidden }) => (isHidden ? everyText(value, maskAddress) : value);

/** Masks a value whose schema has no description: every text inside it may be personal data. */
const anythingMask: NonNullable<Mask> = (value, { isHidden, known }) =>
  isHidden ? everyText(value, (text) => maskText(text, known)) : value;

/** Includes member names, because a record may be keyed by an address. */
function everyText(value: unknown, mask: (text: string) => string): unknown {
  if (typeof value === 'string') return mask(value);
  if (Array.isArray(value)) return value.map((item) => everyText(item, mask));
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [maskText(name), everyText(item, mask)]));
}

const MADE = new WeakMap<z.ZodType, { mask: Mask }>();

/**
 * Returns the mask of a schema. An unknown schema is treated as unknown data, so that new schema kinds show too little
 * rather than too much.
 */
function maskOf(given: z.core.$ZodType): Mask {
  const schema = given as z.ZodType;
  const made = MADE.get(schema);
  if (made) return made.mask;
  // A recursive schema refers to itself before its mask is complete.
  const entry: { mask: Mask } = { mask: (value, place) => entry.mask?.(value, place) ?? value };
  MADE.set(schema, entry);
  entry.mask = makeMask(schema);
  return entry.mask;
}

function makeMask(schema: z.ZodType): Mask {
  const privacy = privacyOf(schema);
  if (privacy === 'open') return null;
  if (privacy === 'address') return addressMask;
  if (privacy === 'bodies') return (value, { isHidden }) => (isHidden ? '' : value);
  if (schema instanceof z.ZodNullable) return nullableMask(schema);
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodDefault || schema instanceof z.ZodReadonly) {
    return maskOf(schema.unwrap());
  }
  if (schema instanceof z.ZodObject) return objectMask(schema);
  if (schema instanceof z.ZodArray) {
    const each = maskOf(schema.element);
    return each && ((value, place) => (Array.isArray(value) ? value.map((item) => each(item, place)) : value));
  }
  if (schema instanceof z.ZodRecord) return recordMask(maskOf(schema.valueType));
  if (schema instanceof z.ZodUnion) return unionMask(schema.options as readonly z.ZodType[]);
  if (schema instanceof z.ZodString) return textMask;
  return isClosed(schema) ? null : anythingMask;
}

/** Returns true for schemas of values without free text: numbers, booleans and enumerations. */
const isClosed = (schema: z.ZodType): boolean =>
  schema instanceof z.ZodNumber ||
  schema instanceof z.ZodBoolean ||
  schema instanceof z.ZodNull ||
  schema instanceof z.ZodEnum ||
  schema instanceof z.ZodLiteral;

function nullableMask(schema: z.ZodNullable): Mask {
  const inner = schema.unwrap() as z.ZodType;
  if (privacyOf(inner) === 'bodies') return (value, { isHidden }) => (isHidden ? null : value);
  const mask = maskOf(inner);
  return mask && ((value, place) => (value === null ? null : mask(value, place)));
}

function recordMask(each: Mask): Mask {
  return (value, place) => {
    if (value === null || typeof value !== 'object') return value;
    const named = (name: string): string => (place.isHidden ? maskText(name, place.known) : name);
    return Object.fromEntries(
      Object.entries(value).map(([name, item]) => [named(name), each ? each(item, place) : item] as const),
    );
  };
}

/** Uses the first option that matches the value. A value without match is treated as unknown data. */
function unionMask(options: readonly z.ZodType[]): Mask {
  const masks = options.map((option) => ({ option, mask: maskOf(option) }));
  if (masks.every(({ mask }) => mask === null)) return null;
  return (value, place) => {
    const found = masks.find(({ option }) => option.safeParse(value).success);
    if (!found) return anythingMask(value, place);
    return found.mask ? found.mask(value, place) : value;
  };
}

/** An object with a workspace field belongs to that workspace, with all nested values. */
function objectMask({ shape, def }: z.ZodObject): Mask {
  const fields = Object.entries(shape as Readonly<Record<string, z.ZodType>>).flatMap(([name, field]) => {
    const mask = maskOf(field);
    return mask === null ? [] : [{ name, mask, isAddress: holdsAddress(field) }];
  });
  // Unnamed members are only sent if the schema allows them.
  const isClosedShape = def.catchall === undefined || def.catchall instanceof z.ZodNever;
  if (fields.length === 0 && isClosedShape) return null;
  const isPlaced = 'workspace' in shape;
  return (value, outer) => {
    if (value === null || typeof value !== 'object') return value;
    const given = value as Readonly<Record<string, unknown>>;
    const isHidden = isPlaced && 'workspace' in given ? outer.hides(workspaceOf(given)) : outer.isHidden;
    const addresses = fields.flatMap(({ name, isAddress }) => (isAddress ? textsIn(given[name]) : []));
    const place = { ...outer, isHidden, known: [...outer.known, ...addresses] };
    const masked = fields.flatMap(({ name, mask }) =>
      name in given ? [[name, mask(given[name], place)] as const] : [],
    );
    const named = Object.fromEntries(Object.entries(given).filter(([name]) => name in shape));
    const others = Object.fromEntries(Object.entries(given).filter(([name]) => !(name in shape)));
    const shown = isClosedShape ? {} : (anythingMask(others, place) as object);
    return { ...shown, ...named, ...Object.fromEntries(masked) };
  };
}

const holdsAddress = (schema: z.ZodType): boolean =>
  privacyOf(schema) === 'address' ||
  (schema instanceof z.ZodNullable && privacyOf(schema.unwrap() as z.ZodType) === 'address');

const textsIn = (value: unknown): readonly string[] =>
  typeof value === 'string'
    ? [value]
    : value !== null && typeof value === 'object'
      ? Object.values(value).flatMap(textsIn)
      : [];

/** Values of the deployment have null or an empty workspace. */
const workspaceOf = ({ workspace }: Readonly<Record<string, unknown>>): string | null =>
  typeof workspace === 'string' && workspace !== '' ? workspace : null;

/**
 * Returns a response as its reader may see it: unchanged with the permission `bodies`, else with recipient addresses
 * masked as the schema marks them (`@carillon/contracts`, http/privacy.ts).
 * @param isHidden Whether values without a workspace are masked.
 */
export function maskAnswer<Value>(
  principal: Pick<Principal, 'may'>,
  schema: z.ZodType<Value>,
  value: Value,
  isHidden: boolean,
): Value {
  const mask = maskOf(schema);
  const hides = (workspace: string | null): boolean => !principal.may('bodies', workspace);
  return mask === null ? value : (mask(value, { hides, isHidden, known: [] }) as Value);
}
