import type { ExpressionPlace } from '@carillon/domain/rules';
import type { Dice } from '../dice.ts';
import { HOSTILE_TEXTS, mutateText } from './texts.ts';

export const PLACES: readonly ExpressionPlace[] = [
  'when',
  'when',
  'when',
  'for_each',
  'recipient',
  'where',
  'path',
  'user_ids',
  'answer',
];

/** What the rules of the shop and of the documentation say. */
const VALID: readonly string[] = [
  'event.status == "paid" && event.total > 100',
  'has(event.customer.email) && event.customer.email.endsWith("@example.com")',
  'event.items.exists(i, i.price > 10.0)',
  'event.items.map(i, i.name)',
  'event.?a.?b.orValue(0) == 0',
  'event.status in ["paid", "sent"]',
  'time > timestamp("2026-01-01T00:00:00Z")',
  'event.name.matches("^[A-Z][a-z]+$")',
  'event.total / 3 > 2 ? "big" : "small"',
  'event.order_id + ":" + event_id',
  'event.order_id',
  'event.watchers',
  'true',
];

const NAMES = ['event', 'event_id', 'time', 'item', 'variables', 'i', 'x', 'previous', '__proto__', 'constructor'];
const FIELDS = ['status', 'total', 'customer', 'email', 'items', 'name', 'price', 'constructor', '__proto__', 'length'];
const LITERALS = [
  '0',
  '1',
  '-1',
  '100',
  '9223372036854775807',
  '-9223372036854775808',
  '9223372036854775808',
  '18446744073709551615u',
  '1.5',
  '1e308',
  '1e999',
  '0xFF',
  'true',
  'false',
  'null',
  '"paid"',
  "'it'",
  '"\\u0000\\x41\\377"',
  'r"\\raw"',
  '"""three\nlines"""',
  'b"bytes\\xff"',
  '"\\ud800"',
  '"%s %d"',
];
const PATTERNS = [
  '^a+$',
  '(a+)+$',
  '(a|a)*b',
  '(?=x)',
  '[',
  '\\\\1',
  'a{1000}{1000}',
  '(?i)x',
  '.*'.repeat(50),
  '\\\\p{L}',
];
const OPERATORS = ['+', '-', '*', '/', '%', '==', '!=', '<', '<=', '>', '>=', '&&', '||', 'in'];
const METHODS = ['contains', 'startsWith', 'endsWith', 'size', 'getFullYear', 'getHours', 'orValue', 'split', 'trim'];
const FUNCTIONS = ['size', 'int', 'uint', 'double', 'string', 'bool', 'bytes', 'type', 'dyn', 'duration', 'timestamp'];
const MACROS = ['all', 'exists', 'exists_one', 'filter', 'map'];

function grow(dice: Dice, depth: number): string {
  if (depth <= 0) return dice.chance(0.5) ? dice.pick(LITERALS) : atom(dice);
  const sub = (): string => grow(dice, depth - 1);
  switch (dice.between(0, 12)) {
    case 0:
    case 1:
    case 2:
      return `${sub()} ${dice.pick(OPERATORS)} ${sub()}`;
    case 3:
      return `(${sub()})`;
    case 4:
      return `${dice.pick(['!', '-', '!!', '- -'])}${sub()}`;
    case 5:
      return `${sub()} ? ${sub()} : ${sub()}`;
    case 6:
      return `${dice.pick(FUNCTIONS)}(${sub()})`;
    case 7:
      return `${atom(dice)}.${dice.pick(METHODS)}(${sub()})`;
    case 8:
      return `${atom(dice)}.${dice.pick(MACROS)}(${dice.pick(['i', 'x', 'event'])}, ${sub()})`;
    case 9:
      return `[${Array.from({ length: dice.between(0, 4) }, sub).join(', ')}]`;
    case 10:
      return `{${Array.from({ length: dice.between(0, 3) }, () => `${sub()}: ${sub()}`).join(', ')}}`;
    case 11:
      return `${atom(dice)}.matches("${dice.pick(PATTERNS)}")`;
    default:
      return `has(${atom(dice)})`;
  }
}

function atom(dice: Dice): string {
  let text = dice.pick(NAMES);
  for (let steps = dice.between(0, 4); steps > 0; steps -= 1) {
    const field = dice.pick(FIELDS);
    text += dice.pick([`.${field}`, `.?${field}`, `["${field}"]`, `[?"${field}"]`, `[${dice.pick(LITERALS)}]`]);
  }
  return text;
}

/** What is small to write and large to compute. */
function heavy(dice: Dice): string {
  const many = dice.pick([20, 60, 300, 3_000]);
  switch (dice.between(0, 7)) {
    case 0:
      return '('.repeat(many) + '1' + ')'.repeat(many);
    case 1:
      return Array.from({ length: many }, () => 'event.total').join(' + ');
    case 2:
      return `${'!'.repeat(many)}true`;
    case 3:
      return `${'['.repeat(many)}${']'.repeat(many)}`;
    case 4: {
      const list = '[1,2,3,4,5,6,7,8,9,10]';
      return Array.from({ length: dice.between(2, 9) }).reduce<string>(
        (inner, _, at) => `${list}.all(i${at}, ${inner})`,
        'true',
      );
    }
    case 5:
      return Array.from({ length: dice.between(2, 12) })
        .reduce<string>((text) => `(${text} + ${text})`, '"aaaaaaaaaa"')
        .slice(0, 20_000);
    case 6:
      return `"${'a'.repeat(many)}".matches("${'(a*)*'.repeat(dice.between(1, 8))}b")`;
    default:
      return `event${'.a'.repeat(many)}`;
  }
}

export function expressionText(dice: Dice): string {
  const text = dice.weighted<() => string>([
    [5, () => grow(dice, dice.between(1, 5))],
    [3, () => dice.pick(VALID)],
    [1, () => heavy(dice)],
    [0.3, () => dice.pick(HOSTILE_TEXTS)],
  ])();
  return dice.chance(0.4) ? mutateText(dice, text) : text;
}
