import type { ASTNode } from '@marcbachmann/cel-js';
import { endOfText } from './brackets.ts';

/** A source as the library's parser can read it, every character in its place, and what has to be put back afterwards. */
export type Readable = {
  readonly text: string;
  /** Where `?` stood before an element of a list or a key of a map. */
  readonly optionalAt: ReadonlySet<number>;
};

const TOKEN = /\/\/[^\n]*|[rRbB]{0,2}("""|'''|"|')|[A-Za-z_]\w*|\.\d+(?:[eE][+-]?\d+)?(?![\w.])|\d[\w.]*|\s+|[^]/g;
/** End of a value, after which a bracket or a dot accesses a part of the value. `in` is an operator. */
const ENDS_VALUE = /^(?!in$)[\w)\]}"']/;

/** Two forms of CEL that the library's parser does not know: a double without a digit before its point, and optional elements. */
export function makeReadable(source: string): Readable {
  if (!/\.\d|\?/.test(source)) return { text: source, optionalAt: new Set() };
  const units = source.split('');
  const optionalAt = new Set<number>();
  const token = new RegExp(TOKEN);
  let before = '';
  for (let found = token.exec(source); found; found = token.exec(source)) {
    const [piece, quote] = found;
    if (/^\s|^\/\//.test(piece)) continue;
    if (quote !== undefined) token.lastIndex = endOfText(source, token.lastIndex, quote);
    else if (/^\.\d/.test(piece) && !ENDS_VALUE.test(before)) units[found.index] = '0';
    else if (piece === '?' && (before === ',' || before === '{' || before === '[ of a list')) {
      units[found.index] = ' ';
      optionalAt.add(found.index);
    }
    before = piece === '[' && !ENDS_VALUE.test(before) ? '[ of a list' : quote === undefined ? piece : '"';
  }
  return { text: units.join(''), optionalAt };
}

/** Gives doubles that were written without a first digit the value that they have. */
export function restoreDoubles(node: unknown, source: string): void {
  if (Array.isArray(node)) {
    for (const each of node) restoreDoubles(each, source);
  } else if (isNode(node)) {
    if (node.op !== 'value') restoreDoubles(node.args, source);
    else if (source[node.start] === '.') node.args = Number(source.slice(node.start, node.end));
  }
}

const isNode = (node: unknown): node is ASTNode & { args: unknown } =>
  typeof node === 'object' && node !== null && 'op' in node && 'args' in node;
