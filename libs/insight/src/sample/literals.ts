import { isJsonObject, type Json } from '@carillon/kernel';

/** How a language writes the values that JSON has. Texts are written alike in all of them, as JSON writes them. */
export type Notation = {
  readonly words: { readonly null: string; readonly true: string; readonly false: string };
  /** Integers that a double does not hold. */
  readonly integer: (value: bigint) => string;
  readonly name: (quoted: string) => string;
};

const plainName = (quoted: string): string => quoted;

export const JSON_NOTATION: Notation = {
  words: { null: 'null', true: 'true', false: 'false' },
  integer: String,
  name: plainName,
};

/** An object literal takes `__proto__` for the prototype, unless it is written as a computed name. */
export const JAVASCRIPT: Notation = {
  words: JSON_NOTATION.words,
  integer: (value) => `JSON.rawJSON("${value}")`,
  name: (quoted) => (quoted === '"__proto__"' ? '["__proto__"]' : quoted),
};

export const PYTHON: Notation = {
  words: { null: 'None', true: 'True', false: 'False' },
  integer: String,
  name: plainName,
};

/** Characters that an editor or a terminal does not show, or that turn the text around them: written as escapes. */
const UNSEEN = /[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}]/gu;

/** A text between double quotes that JSON, JavaScript and Python read as the same text. */
export const quoted = (text: string): string =>
  JSON.stringify(text).replaceAll(UNSEEN, (found) =>
    Array.from({ length: found.length }, (_, at) => unicodeEscape(found.charCodeAt(at))).join(''),
  );

export const unicodeEscape = (unit: number): string => `\\u${unit.toString(16).padStart(4, '0')}`;

/** A value over several lines, indented by `step` more at each level. */
export function literal(value: Json, notation: Notation, step: string, indent = ''): string {
  if (value === null) return notation.words.null;
  if (typeof value === 'boolean') return notation.words[value ? 'true' : 'false'];
  if (typeof value === 'bigint') return notation.integer(value);
  if (typeof value === 'number') return JSON.stringify(value);
  if (typeof value === 'string') return quoted(value);
  const inner = indent + step;
  const lines = isJsonObject(value)
    ? Object.entries(value).map(
        ([name, item]) => `${notation.name(quoted(name))}: ${literal(item, notation, step, inner)}`,
      )
    : value.map((item) => literal(item, notation, step, inner));
  const [open, close] = isJsonObject(value) ? ['{', '}'] : ['[', ']'];
  if (lines.length === 0) return open + close;
  return `${open}\n${lines.map((line) => `${inner}${line}`).join(',\n')}\n${indent}${close}`;
}
