import { PRIVACY, type Privacy } from '@carillon/contracts';
import { z } from 'zod';
import type { Principal } from '../principal.ts';
import { maskAddress, maskText } from './masked-text.ts';

/** Where in an answer one is. */
type Place = {
  /** Whether something of this workspace has to be masked; null: of none. */
  readonly hides: (workspace: string | null) => boolean;
  /** Whether what stands here has to be. */
  readonly isHidden: boolean;
  /** Addresses that stand beside this, or further out. */
  readonly known: readonly string[];
};

/** Null: nothing that the schema describes can name a recipient. */
type Mask = ((value: unknown, place: Place) => unknown) | null;

const privacyOf = (schema: z.ZodType): Privacy | undefined => schema.meta()?.[PRIVACY] as Privacy | undefined;

const textMask: NonNullable<Mask> = (value, { isHidden, known }) =>
  isHidden && typeof value === 'string' ? maskText(value, known) : value;

const addressMask: NonNullable<Mask> = (value, { isHidden }) => (isHidden ? everyText(value, maskAddress) : value);

/** What nobody has described may hold anything. */
const anythingMask: NonNullable<Mask> = (value, { isHidden, known }) =>
  isHidden ? everyText(value, (text) => maskText(text, known)) : value;

/** Names of members too: a record may be keyed by an address. */
function everyText(value: unknown, mask: (text: string) => string): unknown {
  if (typeof value === 'string') return mask(value);
  if (Array.isArray(value)) return value.map((one) => everyText(one, mask));
  if (value === null || typeof value !== 'object') return value;
  return Object.fromEntries(Object.entries(value).map(([name, one]) => [maskText(name), everyText(one, mask)]));
}

const MADE = new WeakMap<z.ZodType, { mask: Mask }>();

/** The mask of a schema. What it does not know is taken for anything, so that a new kind of schema shows too little and not too much. */
function maskOf(given: z.core.$ZodType): Mask {
  const schema = given as z.ZodType;
  const made = MADE.get(schema);
  if (made) return made.mask;
  // A schema within itself is met again before its mask is made.
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
    return each && ((value, place) => (Array.isArray(value) ? value.map((one) => each(one, place)) : value));
  }
  if (schema instanceof z.ZodRecord) return recordMask(maskOf(schema.valueType));
  if (schema instanceof z.ZodUnion) return unionMask(schema.options as readonly z.ZodType[]);
  if (schema instanceof z.ZodString) return textMask;
  return isClosed(schema) ? null : anythingMask;
}

/** Values that are no text, or one of a list that the schema says. */
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
      Object.entries(value).map(([name, one]) => [named(name), each ? each(one, place) : one] as const),
    );
  };
}

/** By the first that the value is one of; of none, it is anything. */
function unionMask(options: readonly z.ZodType[]): Mask {
  const masks = options.map((option) => ({ option, mask: maskOf(option) }));
  if (masks.every(({ mask }) => mask === null)) return null;
  return (value, place) => {
    const found = masks.find(({ option }) => option.safeParse(value).success);
    if (!found) return anythingMask(value, place);
    return found.mask ? found.mask(value, place) : value;
  };
}

/** An object that says its workspace is of it, with all that it holds. */
function objectMask({ shape, def }: z.ZodObject): Mask {
  const fields = Object.entries(shape as Readonly<Record<string, z.ZodType>>).flatMap(([name, field]) => {
    const mask = maskOf(field);
    return mask === null ? [] : [{ name, mask, isAddress: holdsAddress(field) }];
  });
  // What the shape does not name goes out only where the schema lets it through.
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

/** What is of the deployment says so by null or by an empty name. */
const workspaceOf = ({ workspace }: Readonly<Record<string, unknown>>): string | null =>
  typeof workspace === 'string' && workspace !== '' ? workspace : null;

/**
 * What of an answer somebody may see who asks for it: the value itself where they have the permission `bodies`, else with the addresses of
 * recipients masked, as the schema marks them (`@carillon/contracts`, http/privacy.ts).
 *
 * @param isHidden Whether this has to be done with what says no workspace of its own.
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
