const PATH = String.raw`(?:event|item|variables)(?:\.[A-Za-z_]\w*)+`;
const TEXT = String.raw`"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*'`;
const VALUE = String.raw`${TEXT}|-?\d+(?:\.\d+)?|true|false|null`;
const COMPARED: Readonly<Record<string, string>> = {
  '==': 'is',
  '!=': 'is not',
  '>': 'is more than',
  '>=': 'is at least',
  '<': 'is less than',
  '<=': 'is at most',
};
const TESTED: Readonly<Record<string, string>> = {
  startsWith: 'begins with',
  endsWith: 'ends with',
  contains: 'contains',
};

type Words = (...found: string[]) => string;
/** Patterns of whole conditions. Any other condition is shown as written. */
const CONDITIONS: readonly (readonly [RegExp, Words])[] = [
  [
    new RegExp(`^(${PATH}) (==|!=|>=|<=|>|<) (${VALUE})$`),
    (path = '', op = '', value = '') => `${fieldWords(path)} ${COMPARED[op]} ${valueWords(value)}`,
  ],
  [
    new RegExp(`^(totals\\.\\w+) (==|!=|>=|<=|>|<) (-?\\d+(?:\\.\\d+)?)$`),
    (path = '', op = '', value = '') => `${path} ${COMPARED[op]} ${value}`,
  ],
  [
    new RegExp(String.raw`^(${PATH})\.(startsWith|endsWith|contains)\((${TEXT})\)$`),
    (path = '', test = '', value = '') => `${fieldWords(path)} ${TESTED[test]} ${valueWords(value)}`,
  ],
  [new RegExp(String.raw`^has\((${PATH})\)$`), (path = '') => `there is ${fieldWords(path)}`],
  [new RegExp(String.raw`^!has\((${PATH})\)$`), (path = '') => `there is no ${fieldWords(path)}`],
  [
    new RegExp(String.raw`^(${PATH}) in \[((?:${VALUE})(?:, ?(?:${VALUE}))*)\]$`),
    (path = '', values = '') => `${fieldWords(path)} is one of ${values.replaceAll(/["']/g, '')}`,
  ],
  [new RegExp(String.raw`^changed\((${PATH})\)$`), (path = '') => `${fieldWords(path)} changed`],
  [
    new RegExp(String.raw`^changedTo\((${PATH}), ?(${VALUE})\)$`),
    (path = '', to = '') => `${fieldWords(path)} changed to ${valueWords(to)}`,
  ],
  [
    new RegExp(String.raw`^changedFromTo\((${PATH}), ?(${VALUE}), ?(${VALUE})\)$`),
    (path = '', from = '', to = '') => `${fieldWords(path)} changed from ${valueWords(from)} to ${valueWords(to)}`,
  ],
  [new RegExp(`^(${PATH})$`), (path = '') => `${fieldWords(path)} is true`],
  [new RegExp(`^!(${PATH})$`), (path = '') => `${fieldWords(path)} is not true`],
];

/** `event.customer.email` is "customer.email": whose field it is is plain from where it stands. */
export const fieldWords = (path: string): string => path.replace(/^(?:event|item|variables)\./, '');
const valueWords = (value: string): string => (/^['"]/.test(value) ? `“${value.slice(1, -1)}”` : value);

const ATOM = CONDITIONS.map(([shape]) => shape.source.slice(1, -1)).join('|');
const chain = (join: string): RegExp => new RegExp(`^(?:${ATOM})(?: ?${join} ?(?:${ATOM}))*$`);
const ALL = chain('&&');
const ANY = chain(String.raw`\|\|`);
const one = new RegExp(ATOM, 'g');

function conditionWords(source: string): string {
  for (const [shape, words] of CONDITIONS) {
    const found = shape.exec(source);
    if (found) return words(...found.slice(1));
  }
  return source;
}

/**
 * A condition in words, where it is a plain row of comparisons; any other as it was written, whole. It only reads: what an expression
 * means is the server's to say.
 */
export function expressionWords(source: string): string {
  const text = source.trim().replaceAll(/\s+/g, ' ');
  const join = ALL.test(text) ? ' and ' : ANY.test(text) ? ' or ' : null;
  if (join === null) return text;
  return [...text.matchAll(one)].map(([part]) => conditionWords(part)).join(join);
}
