import { Scalar } from 'yaml';
import type { Place } from './place.ts';

const BLANK = /\s/;

/**
 * Returns the file offset of the character at `inner` of a scalar's text. YAML folds, unindents and unescapes, but
 * never adds or drops visible characters, so visible characters are counted in the text and found again in the source.
 * Works for all five forms of scalars.
 */
export function sourceOffset(source: string, node: Scalar, inner: Place): number {
  const text = String(node.value);
  const start = contentStart(source, node);
  const end = node.range?.[1] ?? source.length;
  const offset = innerOffset(text, inner);
  const target = countVisible(text.slice(0, offset));
  const onBlank = offset >= text.length || BLANK.test(text.charAt(offset));
  return onBlank ? afterVisible(source, start, end, node, target) : atVisible(source, start, end, node, target);
}

function innerOffset(text: string, { line, column }: Place): number {
  const lines = text.split('\n');
  const before = lines.slice(0, line - 1).reduce((sum, item) => sum + item.length + 1, 0);
  return Math.min(text.length, before + column - 1);
}

const countVisible = (text: string): number => text.replaceAll(/\s/g, '').length;

function contentStart(source: string, node: Scalar): number {
  const begin = node.range?.[0] ?? 0;
  if (node.type === Scalar.BLOCK_LITERAL || node.type === Scalar.BLOCK_FOLDED) {
    const header = source.indexOf('\n', begin);
    return header < 0 ? source.length : header + 1;
  }
  return node.type === Scalar.QUOTE_DOUBLE || node.type === Scalar.QUOTE_SINGLE ? begin + 1 : begin;
}

/** Length in the source, and in visible characters of the text, of what begins at `at`. */
function unit(source: string, at: number, node: Scalar): { readonly length: number; readonly visible: number } {
  const char = source.charAt(at);
  if (node.type === Scalar.QUOTE_SINGLE && char === "'") return { length: 2, visible: 1 };
  if (node.type === Scalar.QUOTE_DOUBLE && char === '\\') {
    const escape = source.charAt(at + 1);
    const digits = { x: 2, u: 4, U: 8 }[escape];
    if (digits === undefined) return { length: 2, visible: /[\stnvfrLP_]/.test(escape) ? 0 : 1 };
    const code = Number.parseInt(source.slice(at + 2, at + 2 + digits), 16);
    return { length: 2 + digits, visible: countVisible(String.fromCodePoint(Math.min(code || 0, 0x10ffff))) };
  }
  return { length: 1, visible: BLANK.test(char) ? 0 : 1 };
}

function atVisible(source: string, start: number, end: number, node: Scalar, target: number): number {
  let seen = 0;
  let at = start;
  while (at < end) {
    const { length, visible } = unit(source, at, node);
    if (visible > 0 && seen + visible > target) return at;
    seen += visible;
    at += length;
  }
  return end;
}

function afterVisible(source: string, start: number, end: number, node: Scalar, target: number): number {
  let seen = 0;
  let at = start;
  while (at < end && seen < target) {
    const { length, visible } = unit(source, at, node);
    seen += visible;
    at += length;
  }
  return at;
}
