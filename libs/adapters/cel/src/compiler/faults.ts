import type { ExpressionFault } from '@carillon/domain/rules';
import { editsBetween } from '@carillon/kernel';

/** Turns offsets into what people count: lines and columns from 1. */
export function faultAt(source: string, offset: number, message: string, fix: string): ExpressionFault {
  const before = source.slice(0, Math.max(0, Math.min(offset, source.length)));
  const line = before.split('\n').length;
  return { line, column: before.length - before.lastIndexOf('\n'), message, fix };
}

/** Names that somebody may have meant, nearest first. */
export function nearest(name: string, names: readonly string[]): readonly string[] {
  const short = name.slice(0, 40).toLowerCase();
  return names
    .map((known) => ({ known, far: editsBetween(short, known.toLowerCase()) }))
    .filter(({ known, far }) => far <= Math.max(2, Math.floor(known.length / 3)))
    .toSorted((a, b) => a.far - b.far)
    .slice(0, 3)
    .map(({ known }) => known);
}

export const listed = (names: readonly string[]): string => names.map((name) => `\`${name}\``).join(', ');

type Hint = { readonly when: RegExp; readonly message: string; readonly fix: string };

/** Common mistakes at a syntax error, with their fixes. The pattern matches the text from the error on. */
const HINTS: readonly Hint[] = [
  { when: /^and\b/i, message: '`and` is not an operator', fix: 'write `&&`' },
  { when: /^or\b/i, message: '`or` is not an operator', fix: 'write `||`' },
  { when: /^not\b/i, message: '`not` is not an operator', fix: 'write `!`' },
  { when: /^===/, message: '`===` is not an operator', fix: 'write `==`' },
  { when: /^=/, message: 'a single `=` does not compare', fix: 'write `==`' },
  { when: /^&/, message: 'a single `&` is not an operator', fix: 'write `&&`' },
  { when: /^\|/, message: 'a single `|` is not an operator', fix: 'write `||`' },
  { when: /^<>/, message: '`<>` is not an operator', fix: 'write `!=`' },
  { when: /^`/, message: 'backquoted names are not supported', fix: 'write the name in brackets: `event["name"]`' },
  { when: /^[“”„‘’]/, message: 'typographic quotation marks are not allowed', fix: 'write `"` or `\'`' },
  { when: /^\$/, message: '`$` has no meaning here', fix: 'write the field without `$`: `event.name`' },
  { when: /^;/, message: 'an expression has no `;`', fix: 'leave it out' },
];

/** Detects plain text in an expression: a constant address or a template. */
function meantText(source: string, offset: number): { message: string; fix: string } | undefined {
  if (source.includes('{{')) {
    return {
      message: 'an expression is not a template: `{{ }}` stands in templates alone',
      fix: 'write `event.id` alone, and join text with `+`: `"order-" + string(event.id)`',
    };
  }
  const address = /^[\w.%+-]+@[\w-]+(?:\.[\w-]+)+$/.test(source.trim()) && source[offset] === '@';
  const number = /^\+\d[\d ]{5,}$/.test(source.trim());
  if (!address && !number) return undefined;
  return {
    message: 'this is text, not an expression',
    fix: `put the text in quotation marks, and the whole in other quotation marks for YAML: '"${source.trim()}"'`,
  };
}

/** The message and the fix for text that does not parse. */
export function explainSyntax(source: string, offset: number, summary: string): { message: string; fix: string } {
  const rest = source.slice(offset);
  const before = source.slice(0, offset).trimEnd();
  const key = /^(in|true|false|null|\d\w*)\b/.exec(rest)?.[1];
  if (before.endsWith('.') && key !== undefined) {
    const owner = /([\w.]*)\.$/.exec(before)?.[1] ?? '';
    return {
      message: `\`.${key}\` does not parse: ${key} is a word of the language`,
      fix: `write \`${owner}["${key}"]\``,
    };
  }
  if (before.endsWith('=') && !/[=!<>]=$/.test(before)) {
    return { message: 'a single `=` does not compare', fix: 'write `==`' };
  }
  const meant = meantText(source, offset);
  if (meant) return meant;
  const known = HINTS.find(({ when }) => when.test(rest));
  if (known) return known;
  if (rest.trim() === '') {
    return {
      message: 'the expression ends too early',
      fix: 'complete it, or close the open bracket or quotation mark',
    };
  }
  const found = /^(\w+|.)/su.exec(rest)?.[1] ?? '';
  return {
    message: `unexpected \`${found.slice(0, 40)}\` (${summary.slice(0, 120)})`,
    fix: `remove it, or write an operator such as \`&&\` before it`,
  };
}
