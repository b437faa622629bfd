import type { z } from 'zod';
import { refusedKey } from './planned-keys.ts';
import { mistakesOf, shapeFault } from './mistakes.ts';
import type { ValuePath } from '../value-path.ts';
import type { FileFault, ShapeFault } from './place.ts';
import { FILE_SHAPES, isExpressionLeaf, type FileBodies, type FileKind } from '@carillon/shapes';
import { walkShape } from './walk-shape.ts';
import { readYaml, type PlacedSource, type YamlSource } from './yaml-source.ts';

/** A parsed YAML file. `body` is undefined if a mistake prevents further checks. */
export type ShapedFile<Kind extends FileKind> = {
  readonly source: YamlSource;
  readonly body: FileBodies[Kind] | undefined;
  /** Value of the file without keys of later versions. Used if there is no body. */
  readonly value: unknown;
  readonly faults: readonly FileFault[];
};

const SHAPES: { readonly [Kind in FileKind]: z.ZodType<FileBodies[Kind]> } = FILE_SHAPES;
export const shapeOf = <Kind extends FileKind>(kind: Kind): z.ZodType<FileBodies[Kind]> => SHAPES[kind];
const MAY_BE_EMPTY: ReadonlySet<FileKind> = new Set(['deployment', 'workspace']);

/** Reads a file by the shape of its kind: all mistakes at once, each once. */
export function readFile<Kind extends FileKind>(kind: Kind, file: string, text: string): ShapedFile<Kind> {
  const source = readYaml(file, text);
  const broken = source.value === undefined && source.faults.length > 0;
  if (broken) return { source, body: undefined, value: source.readable, faults: source.faults };
  const empty = source.value === undefined && MAY_BE_EMPTY.has(kind);
  const later: ShapeFault[] = [];
  const value = empty ? {} : withoutLater(kind, source.value, [], source, later);
  const parsed = parseAsWritten(shapeOf(kind), value, source);
  const told = new Set([...source.faults, ...later].map(({ path }) => path));
  const mistakes = parsed.success ? [] : mistakesOf(parsed.error.issues, value, source);
  const faults = [...source.faults, ...later, ...mistakes.filter(({ path }) => !told.has(path) || path === '')];
  return { source, body: parsed.success && faults.length === 0 ? parsed.data : undefined, value, faults };
}

/**
 * Parses a value of the file. YAML reads `true` or `1.50` as other types than text, so expressions are taken from the
 * file's characters.
 */
export function parseAsWritten<Body>(
  shape: z.ZodType<Body>,
  value: unknown,
  source: Pick<YamlSource, 'plainText'>,
): z.ZodSafeParseResult<Body> {
  const parsed = shape.safeParse(value);
  if (!parsed.success) return parsed;
  const written = walkShape(shape, value, (schema, item, path) =>
    isExpressionLeaf(schema) && typeof item !== 'string' ? (source.plainText(path) ?? item) : item,
  );
  return shape.safeParse(written);
}

/** Takes out, and reports, keys that this version does not read, so that each has one fault. */
export function withoutLater(
  kind: FileKind,
  value: unknown,
  path: ValuePath,
  source: PlacedSource,
  faults: ShapeFault[],
): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  const kept: [string, unknown][] = [];
  for (const [name, item] of Object.entries(value)) {
    const at = [...path, name];
    const fault = refusedKey(kind, at, item);
    if (fault === null) {
      kept.push([name, withoutLater(kind, item, at, source, faults)]);
      continue;
    }
    faults.push(shapeFault(source, at, 'key', fault));
  }
  return Object.fromEntries(kept);
}
