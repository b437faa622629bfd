import {
  isAlias,
  isCollection,
  isMap,
  isNode,
  isPair,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  parseDocument,
  type Scalar,
} from 'yaml';
import { sourceOffset } from './scalar-offsets.ts';
import { pathText, type ValuePath } from '../value-path.ts';
import { meantText, type Meant } from './meant-text.ts';
import type { FileFault, Place } from './place.ts';

/** A file that can locate the parts of its value. */
export type PlacedSource = Pick<YamlSource, 'file' | 'keyPlace' | 'valuePlace' | 'meantText'>;

/** A YAML file as a plain value that can locate each of its parts. */
export type YamlSource = {
  readonly file: string;
  /** Undefined: nothing is in the file, or it is broken and `faults` says how. */
  readonly value: unknown;
  /** Value of the file. For a broken file, the value of the lines without an error. */
  readonly readable: unknown;
  readonly faults: readonly FileFault[];
  /** Place of the key at a path (of the item in a list), of its nearest parent where it is missing. */
  keyPlace(path: ValuePath): Place;
  /** Place of the value at a path, else as `keyPlace`. */
  valuePlace(path: ValuePath): Place;
  /** Place in the file of line and column within the text of the value at a path. */
  innerPlace(path: ValuePath, inner: Place): Place;
  /** Returns the characters of a plain scalar that YAML read as something other than text. */
  plainText(path: ValuePath): string | null;
  /** Returns what to write if a list or mapping was found and text was intended. */
  meantText(path: ValuePath): Meant | null;
};

const EXPRESSION_ADVICE = 'put an expression on a line of its own, or after | on the next line';

const SYNTAX_ADVICE: Readonly<Record<string, readonly [expected: string, fix: string]>> = {
  TAB_AS_INDENT: ['spaces', 'indent with spaces instead of tabs'],
  MULTIPLE_DOCS: ['one document', 'remove the line --- and what follows, or put it into a file of its own'],
  BLOCK_AS_IMPLICIT_KEY: ['one key and its value on a line', `if this is text with ": " in it, ${EXPRESSION_ADVICE}`],
};

/** Maximum characters of one file. The parser blocks the process for about a millisecond per kilobyte. */
const MAX_CHARACTERS = 64 * 1024;

type Positions = Map<string, { readonly key: number; readonly node: Node | null }>;

/** Reads one YAML file. Silent features of YAML that nobody intends are faults here: tags, empty values, aliases. */
export function readYaml(
  file: string,
  text: string,
  { takesNull }: { readonly takesNull: boolean } = { takesNull: false },
): YamlSource {
  const lines = new LineCounter();
  // Keys are compared below: the parser compares each with all the others, which takes seconds for some thousand keys.
  const options = { lineCounter: lines, prettyErrors: false, keepSourceTokens: true, uniqueKeys: false };
  const refusal = refusalOf(text);
  const document = parseDocument(refusal ? '' : text, options);
  const placeAt = (offset: number): Place => {
    const { line, col } = lines.linePos(Math.min(offset, text.length));
    return { line: Math.max(1, line), column: Math.max(1, col) };
  };
  const faults: FileFault[] = [];
  const meantAt = (offset: number): Meant | null => meantText(lineAt(text, offset));
  /** Lines reported as intended text. Further mistakes in these lines are not reported. */
  const meantLines = new Set<number>();
  const fault: Report = (offset, path, message, expected, fix) => {
    const place = placeAt(offset);
    const meant = meantAt(offset);
    if (meantLines.has(place.line)) return;
    if (meant) meantLines.add(place.line);
    faults.push({ file, path: pathText(path), ...place, message, expected, fix, ...meant });
  };
  for (const { code, message, pos } of document.errors) {
    const [expected, fix] = SYNTAX_ADVICE[code] ?? [
      'valid YAML',
      `check quotes, brackets and indentation; ${EXPRESSION_ADVICE}`,
    ];
    fault(pos[0], [], message, expected, fix);
  }
  if (refusal) fault(0, [], ...refusal);
  const positions: Positions = new Map();
  const broken = new Set(document.errors.flatMap(({ pos }) => pos.map((offset) => placeAt(offset).line)));
  const readAll = (reader: Pick<Reader, 'fault' | 'isBroken'>): unknown =>
    document.contents ? readNode(document.contents, [], { text, positions, takesNull, ...reader }) : undefined;
  const readable =
    broken.size === 0
      ? readAll({ fault, isBroken: () => false })
      : readAll({
          fault: () => undefined,
          isBroken: ([start, end]) =>
            [...broken].some((line) => line >= placeAt(start).line && line <= placeAt(end).line),
        });

  const known = (path: ValuePath): { key: number; node: Node | null } => {
    for (let length = path.length; length > 0; length -= 1) {
      const found = positions.get(JSON.stringify(path.slice(0, length)));
      if (found) return length === path.length ? found : { key: found.key, node: null };
    }
    return { key: document.contents?.range?.[0] ?? 0, node: null };
  };
  return {
    file,
    value: broken.size === 0 ? readable : undefined,
    readable,
    faults,
    keyPlace: (path) => placeAt(known(path).key),
    valuePlace: (path) => {
      const { key, node } = known(path);
      return placeAt(node?.range?.[0] ?? key);
    },
    innerPlace: (path, inner) => {
      const { key, node } = known(path);
      return placeAt(isScalar(node) ? sourceOffset(text, node, inner) : key);
    },
    plainText: (path) => {
      const { node } = known(path);
      return isScalar(node) && typeof node.value !== 'string' ? (node.source ?? null) : null;
    },
    meantText: (path) => meantAt(known(path).key),
  };
}

const lineAt = (text: string, offset: number): string => {
  const end = text.indexOf('\n', offset);
  return text.slice(text.lastIndexOf('\n', offset - 1) + 1, end < 0 ? text.length : end);
};

/** Why a file is not even parsed; undefined where it is. */
function refusalOf(text: string): readonly [message: string, expected: string, fix: string] | undefined {
  if (tooDeep(text))
    return ['the file is nested too deeply', 'a file as in the reference', 'remove the brackets or the indentation'];
  if (text.length > MAX_CHARACTERS)
    return ['the file is too large', `at most ${MAX_CHARACTERS} characters`, 'split it into several files'];
  return undefined;
}

/** The parser calls itself for each level, so a few kilobytes of brackets would end in a stack overflow. */
function tooDeep(text: string): boolean {
  let depth = 0;
  for (const [bracket] of text.matchAll(/[[\]{}]/g)) {
    depth = bracket === '[' || bracket === '{' ? depth + 1 : Math.max(0, depth - 1);
    if (depth > 200) return true;
  }
  return /^[^\S\n]*(?:[-?:][^\S\n]+){50}|^ {500}/m.test(text);
}

type Report = (offset: number, path: ValuePath, message: string, expected: string, fix: string) => void;
type Reader = {
  readonly text: string;
  readonly positions: Positions;
  readonly fault: Report;
  /** True: a written `null` is a value. */
  readonly takesNull: boolean;
  /** Whether an error stands on the lines of a node. */
  readonly isBroken: (range: readonly [start: number, end: number]) => boolean;
};

/** The plain value of a node; what YAML makes silently of a mistake is reported and left out. */
function readNode(node: Node, path: ValuePath, reader: Reader): unknown {
  const { text, positions, fault } = reader;
  const offset = node.range?.[0] ?? 0;
  if (isAlias(node)) {
    fault(offset, path, `*${node.source} is an alias`, 'the value itself', 'write it out');
    return undefined;
  }
  if (node.tag !== undefined) {
    const tag = node.tag.startsWith('tag:') ? 'a YAML tag' : `${node.tag}, which YAML reads as a tag`;
    fault(
      Math.max(0, text.lastIndexOf('!', offset - 1)),
      path,
      `this begins with ${tag}`,
      'a plain value',
      `for an expression that begins with !, ${EXPRESSION_ADVICE}`,
    );
    return undefined;
  }
  // In a block, other lines stay valid after an error. Brackets and quotes do not, so their content is unknown.
  const stands = isCollection(node) && node.flow !== true;
  if (!stands && node.range && reader.isBroken([node.range[0], node.range[1]])) return undefined;
  if (isMap(node)) return readMap(node.items, path, reader);
  if (isSeq(node)) {
    return node.items.map((item, index) => {
      const at = [...path, index];
      if (!isNode(item)) return undefined;
      positions.set(JSON.stringify(at), { key: item.range?.[0] ?? offset, node: item });
      return readNode(item, at, reader);
    });
  }
  return readScalar(node, path, reader);
}

function readScalar(node: Scalar, path: ValuePath, { fault, takesNull }: Reader): unknown {
  if (node.value !== null || (takesNull && node.source === 'null')) return node.value;
  const word =
    node.source === undefined || node.source === '' ? 'nothing is here' : `${node.source} means nothing here`;
  fault(node.range?.[0] ?? 0, path, word, 'a value', `write a value or remove the key; ${EXPRESSION_ADVICE}`);
  return undefined;
}

const isNothing = ({ value }: Scalar): boolean => value === null;

function readMap(items: readonly unknown[], path: ValuePath, reader: Reader): object {
  const { positions, fault } = reader;
  const entries = new Map<string, unknown>();
  for (const pair of items) {
    if (!isPair(pair) || !isScalar(pair.key) || isNothing(pair.key)) {
      const place = isPair(pair) && isNode(pair.key) ? (pair.key.range?.[0] ?? 0) : 0;
      fault(place, path, 'a key is no plain word', 'plain words as keys', 'write key: value');
      continue;
    }
    const name = String(pair.key.value);
    const at = [...path, name];
    const key = pair.key.range?.[0] ?? 0;
    if (entries.has(name)) {
      fault(key, [], 'this key is there twice', 'each key once', 'remove one of the two');
      continue;
    }
    const node = isNode(pair.value) ? pair.value : null;
    positions.set(JSON.stringify(at), { key, node });
    if (node === null) {
      fault(
        key,
        at,
        'a key without a value',
        'key: value',
        `a comma inside { } begins a new key; ${EXPRESSION_ADVICE}`,
      );
      entries.set(name, undefined);
    } else entries.set(name, readNode(node, at, reader));
  }
  return Object.fromEntries(entries);
}
