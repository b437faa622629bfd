import { laterKey, laterValue } from './later.ts';
import { mistakesOf } from './mistakes.ts';
import { type FileFault, pathText, type ValuePath } from './place.ts';
import { salvageRules } from './salvage.ts';
import { isExpressionLeaf } from '@carillon/shapes';
import { FILE_SHAPES, type FileKind } from '@carillon/shapes';
import { walkShape } from './walk-shape.ts';
import { readYaml, type YamlSource } from './yaml-source.ts';

/** One YAML file, read. `body` is undefined where a mistake leaves nothing to go on with. */
export type ShapedFile = {
  readonly source: YamlSource;
  readonly body: unknown;
  /** Of a notification with mistakes: what is whole enough to have its expressions checked. */
  readonly salvaged: unknown;
  readonly faults: readonly FileFault[];
};

const MAY_BE_EMPTY: ReadonlySet<FileKind> = new Set(['deployment', 'workspace']);

/** Reads a file by the shape of its kind: all mistakes at once, each once. */
export function readFile(kind: FileKind, file: string, text: string): ShapedFile {
  const source = readYaml(file, text);
  const broken = source.value === undefined && source.faults.length > 0;
  if (broken) return { source, body: undefined, salvaged: undefined, faults: source.faults };
  const empty = source.value === undefined && MAY_BE_EMPTY.has(kind);
  const later: FileFault[] = [];
  const value = empty ? {} : withoutLater(kind, source.value, [], source, later);
  const parsed = FILE_SHAPES[kind].safeParse(value);
  const told = new Set([...source.faults, ...later].map(({ path }) => path));
  const mistakes = parsed.success ? [] : mistakesOf(parsed.error.issues, value, source);
  const faults = [...source.faults, ...later, ...mistakes.filter(({ path }) => !told.has(path) || path === '')];
  const body = parsed.success && faults.length === 0 ? withExpressionsAsText(kind, parsed.data, source) : undefined;
  const rest = body === undefined && kind === 'notification' ? salvageRules(value) : undefined;
  const salvaged = rest === undefined ? undefined : withExpressionsAsText(kind, rest, source);
  return { source, body, salvaged, faults };
}

/** YAML reads `true` or `1.50` as something else than text; an expression is what stands in the file. */
function withExpressionsAsText(kind: FileKind, body: unknown, source: YamlSource): unknown {
  return walkShape(FILE_SHAPES[kind], body, (schema, value, path) =>
    isExpressionLeaf(schema) && typeof value !== 'string' ? (source.plainText(path) ?? String(value)) : value,
  );
}

/** Takes out, and reports, what a later version will read, so that nothing else is said about it. */
function withoutLater(
  kind: FileKind,
  value: unknown,
  path: ValuePath,
  source: YamlSource,
  faults: FileFault[],
): unknown {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
  const kept: [string, unknown][] = [];
  for (const [name, item] of Object.entries(value)) {
    const at = [...path, name];
    const key = laterKey(kind, at);
    const what = key ?? laterValue(kind, at, item);
    if (what === null) {
      kept.push([name, withoutLater(kind, item, at, source, faults)]);
      continue;
    }
    const found = key === null ? `${name}: ${String(item)}` : name;
    faults.push({
      file: source.file,
      path: pathText(at),
      ...(key === null ? source.valuePlace(at) : source.keyPlace(at)),
      message: `${found} comes in a later version (${what})`,
      expected: 'only what this version carries out',
      fix: `remove it until then`,
    });
  }
  return Object.fromEntries(kept);
}
