/** Explanation of a wrong line, and what to write instead. */
export type Meant = { readonly message: string; readonly expected: string; readonly fix: string };

const KEY_AND_VALUE = /^ {0,200}(?:- )?([\w-]{1,200}):[ \t]{1,200}(\S.*)$/;
/** Longer lines are no slip of somebody who writes by hand. The patterns below may cost the square of a line's length. */
const LONGEST = 1000;
/** Keys whose value may be a secret, which no message repeats. */
const SECRET = /password|secret|token|key|credential/i;
/** Keys whose value is an expression. */
const EXPRESSIONS: ReadonlySet<string> = new Set(
  'when where for_each unique_id person email phone user_ids match key time'.split(' '),
);

/** How a value begins, or what it holds, that YAML reads as something else than text. */
const SLIPS: readonly (readonly [when: RegExp, message: string])[] = [
  [/^\{\{/, 'this begins with {{, which YAML reads as brackets of its own'],
  [/^\[[^\]]*\](?!\s*(?:#|$))/, 'this begins with [, which YAML reads as a list'],
  [/^\[[^\],]*\]\s*$/, 'this begins with [, which YAML reads as a list'],
  [/^(?:"(?:[^"\\]|\\.)*"|'(?:[^']|'')*')\s*[^\s#]/, 'text follows the closing quotation mark'],
  [/^(?:[@`%]|&(?!\w+ )|\*(?!\w+$))/, 'this begins with a character that means something in YAML'],
  [/^(?:- |[>|]\s*\w)/, 'this begins with a character that means something in YAML'],
  [/^[^'"{[|>].*:\s/, 'this holds a colon and a blank, which YAML reads as another key'],
];

/**
 * Returns the correction of a line `key: value` that YAML cannot read, or reads as something other than text: the value
 * in quotes. Null for any other line. Only for lines with a mistake, because `[a]` may be a valid list.
 */
export function meantText(line: string): Meant | null {
  if (line.length > LONGEST) return null;
  const [, key = '', value = ''] = KEY_AND_VALUE.exec(line.trimEnd()) ?? [];
  if (value === '') return null;
  if (EXPRESSIONS.has(key) && value.includes('{{')) return meantExpression(key, value);
  const slip = SLIPS.find(([when]) => when.test(value));
  if (!slip) return null;
  const quoted = SECRET.test(key) ? "'…'" : `'${value.replaceAll("'", "''")}'`;
  const expression = EXPRESSIONS.has(key) ? ', or put the expression after | on the next line' : '';
  return { message: slip[1], expected: 'text in quotation marks', fix: `write ${key}: ${quoted}${expression}` };
}

const meantExpression = (key: string, value: string): Meant => ({
  message: 'an expression is not a template: use {{ }} only in templates',
  expected: 'an expression',
  fix: `write ${key}: ${value.replaceAll(/\{\{\s*|\s*\}\}/g, '')}`,
});
