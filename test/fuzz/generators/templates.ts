import type { EmailTemplate } from '@carillon/domain/configuration';
import type { Dice } from '../dice.ts';
import { hostileText, mutateText } from './texts.ts';

const NAMES = [
  'name',
  'order_id',
  'total',
  'items',
  'customer.name',
  'customer',
  'items.0.name',
  'items.length',
  '[first name]',
  'this',
  'this.name',
  '../name',
  '@root.name',
  '@index',
  '@key',
  'constructor',
  '__proto__',
  'constructor.prototype',
  '@root.__proto__.x',
  'toString',
  '@data',
  'paid_at',
];
const ARGUMENTS = ['"EUR"', '"x"', '1', '-1', '1e9', 'true', 'null', 'undefined', 'locale="de"', 'style="full"'];
const OPTIONS = [
  'zone="Europe/Berlin"',
  'zone="No/Where"',
  'minimum=99',
  'maximum=-1',
  'one="a" other="b"',
  'locale="xx-"',
];
const HELPERS = [
  'date',
  'number',
  'currency',
  'plural',
  'default',
  'url',
  'eq',
  'ne',
  'lt',
  'gt',
  'lookup',
  'log',
  'if',
];
const BLOCKS = ['if', 'unless', 'each', 'with', 'name', 'eq', 'nothing', 'log'];
const ODD = [
  '{{{name}}}',
  '{{&name}}',
  '{{> partial}}',
  '{{#> layout}}{{/layout}}',
  '{{* decorator}}',
  '{{{{raw}}}}{{name}}{{{{/raw}}}}',
  '{{! note }}',
  '{{!-- }} --}}',
  '\\{{name}}',
  '\\\\{{name}}',
  '{{~name~}}',
  '{{else}}',
  '{{/if}}',
  '{{#if name}}',
  '{{',
  '}}',
  '{{}}',
  '{{ }}',
  '<a href={{url name}}>x</a>',
  '<style>{{name}}</style>',
  '<script>{{name}}</script>',
  '<!-- {{name}} -->',
  '{{#each items as |item at|}}{{item.name}}{{/each}}',
  '{{#with customer as |c|}}{{c.name}}{{/with}}',
  '{{#if a}}1{{else if b}}2{{else if c}}3{{else}}4{{/if}}',
];

function argument(dice: Dice, depth: number): string {
  if (depth > 0 && dice.chance(0.25)) return `(${call(dice, depth - 1)})`;
  return dice.pick(dice.chance(0.6) ? NAMES : ARGUMENTS);
}

function call(dice: Dice, depth: number): string {
  const parts = [dice.pick(HELPERS)];
  for (let many = dice.between(0, 3); many > 0; many -= 1) parts.push(argument(dice, depth));
  if (dice.chance(0.3)) parts.push(dice.pick(OPTIONS));
  return parts.join(' ');
}

function piece(dice: Dice, depth: number): string {
  switch (dice.between(0, 6)) {
    case 0:
    case 1:
      return `{{${dice.pick(NAMES)}}}`;
    case 2:
      return `{{${call(dice, dice.between(0, 6))}}}`;
    case 3: {
      const block = dice.pick(BLOCKS);
      const inner = depth > 0 ? body(dice, depth - 1) : '';
      return `{{#${block} ${argument(dice, 1)}}}${inner}${dice.chance(0.3) ? '{{else}}no' : ''}{{/${block}}}`;
    }
    case 4:
      return dice.pick(ODD);
    default:
      return dice.pick(['<p>Hello</p>', ' and ', '\r\n', '<a href="{{url link}}">x</a>', '&amp;', '"', '<']);
  }
}

const body = (dice: Dice, depth: number): string =>
  Array.from({ length: dice.between(1, 4) }, () => piece(dice, depth)).join('');

function heavy(dice: Dice): string {
  const many = dice.pick([9, 60, 499, 501, 3_000]);
  switch (dice.between(0, 5)) {
    case 0:
      return '{{name}}'.repeat(many);
    case 1:
      return '{{#each items}}'.repeat(dice.between(2, 9)) + 'x' + '{{/each}}'.repeat(9);
    case 2:
      return `{{#if a}}1${'{{else if b}}2'.repeat(many)}{{/if}}`;
    case 3:
      return `{{default ${'(default '.repeat(dice.between(1, 12))}name "x"${' "y")'.repeat(dice.between(1, 12))} "z"}}`;
    case 4:
      return `{{name${'.name'.repeat(many)}}}`;
    default:
      return '{'.repeat(many);
  }
}

export function templateText(dice: Dice): string {
  const text = dice.weighted<() => string>([
    [6, () => body(dice, dice.between(0, 6))],
    [1, () => heavy(dice)],
    [0.5, () => hostileText(dice)],
  ])();
  return dice.chance(0.3) ? mutateText(dice, text) : text;
}

export function makeTemplate(dice: Dice): EmailTemplate {
  return {
    subject: dice.chance(0.5) ? 'Order {{order_id}}' : templateText(dice),
    ...(dice.chance(0.3) && { from: dice.chance(0.5) ? '{{name}} <shop@example.com>' : templateText(dice) }),
    ...(dice.chance(0.7) && { html: templateText(dice) }),
    ...(dice.chance(0.6) && { text: templateText(dice) }),
    ...(dice.chance(0.2) && { strict: true }),
  };
}
