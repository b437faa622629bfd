import type { EmailTemplate } from '@carillon/domain/configuration';
import { pathText } from '@carillon/domain/events';
import type { TemplateFault, TemplateNames } from '@carillon/ports';
import { describe, expect, test } from 'vitest';

import { createTemplateRenderer } from '../src/index.ts';
import { email } from './support/email.ts';

const renderer = createTemplateRenderer();
const check = (template: EmailTemplate): readonly TemplateFault[] => renderer.check(email(template));
const names = (template: EmailTemplate): TemplateNames => renderer.names(email(template));
const faults = (html: string): readonly string[] =>
  check({ subject: 's', html }).map(({ line, column, message, fix }) => `${line}:${column} ${message}. ${fix}`);

describe('the check of a template when it is saved', () => {
  test.each([
    ['Hi {{name', '1:4 This tag is not closed'],
    ['a\n {{#if x}}b', '2:12 A block is not closed at the end of the template'],
    ['{{#if x}}a{{/unless}}', "1:4 if doesn't match unless"],
    ['{{/if}}', '1:1 Did not expect the end of a block'],
    ['{{a}}}', '1:4 Did not expect "}}}" here'],
    ['{{! open', '1:1 This comment is not closed'],
    ['{{currancy total "EUR"}}', '1:1 There is no helper currancy. Did you mean currency?'],
    ['{{lookup a b}}', '1:1 There is no helper lookup. There are date, number'],
    ['{{log a}}', '1:1 There is no helper log'],
    ['{{#list}}{{/list}}', '1:1 There is no block {{#list}}. Write {{#if list}}, {{#each list}}'],
    ['{{if x}}', '1:1 There is no helper'],
    ['{{if x y=1}}', '1:1 if is a block. Write {{#if paid}}'],
    ['{{#date x}}{{/date}}', '1:1 date is not a block'],
    ['{{> header}}', '1:1 This is not a valid partial tag. Write {{> name}}'],
    ['{{#> header}}{{/header}}', '1:1 This is not a valid partial tag'],
    ['{{* deco}}', '1:1 Decorators'],
    ['{{#*inline "a"}}{{/inline}}', '1:1 Decorators'],
    ['{{{{raw}}}}{{{{/raw}}}}', '1:1 Raw blocks'],
    ['<p>{{{a}}}</p>', '1:4 Unescaped output ({{{...}}} or {{&...}}) is refused in html. Use {{...}}: event data'],
    ['{{&a}}', '1:1 Unescaped output'],
    ['<a href={{url a}}>', '1:9 An attribute value that holds a variable needs quotes'],
    ['{{date}} {{date a b}}', '1:10 date takes 1, found 2 values'],
    ['{{date a zome="x"}}', '1:10 date has no option zome. It has style, time, zone, locale.'],
    ['{{date a zone="Mars/North"}}', '1:10 zone of date: expected a time zone'],
    ['{{number a maximum=99}}', '1:12 maximum of number: expected 0 to 20'],
    ['{{plural n one="x"}}', '1:1 plural needs other='],
    ['{{default (dat x) 1}}', '1:11 There is no helper dat. Did you mean date?'],
    ['{{../x}}', '1:3 ../x leads above the outermost level'],
    ['{{#if a}}{{../x}}{{/if}}', '1:12 ../x leads above the outermost level. Only {{#each}} and {{#with}}'],
    ['{{@index}}', '1:3 @index exists only inside {{#each}}'],
    ['{{@partial-block}}', '1:3 There is no @partial-block'],
    ['{{"text"}}', '1:1 A value is where a name is expected'],
    ['{{#if a as |b|}}{{/if}}', '1:1 Too many names'],
    ['a\u0000b', '1:2 A control character'],
  ])('reports for %j: %j', (html, expected) => {
    const [first] = faults(html);
    // `{{if x}}` and `{{if}}` are read as helper and variable; both have to be told apart.
    if (html === '{{if x}}') expect(first).toBe('1:1 if is a block. Write {{#if paid}}...{{/if}}.');
    else expect(first).toContain(expected);
  });

  test('finds all faults in all parts, each with its position', () => {
    const found = check({ subject: '{{foo a}}', from: '{{', html: '{{> a}}\n{{> b}}', text: '{{#x}}{{/x}}{{{fine}}}' });
    expect(found.map(({ part, line, column }) => `${part} ${line}:${column}`)).toEqual([
      'subject 1:1',
      'from 1:1',
      'html 1:1',
      'html 2:1',
      'text 1:1',
    ]);
  });

  test('refuses a template without content', () => {
    expect(check({ subject: 's' })).toMatchObject([{ part: 'html', message: 'The template has no content' }]);
  });
});

describe('the variable names that a template uses', () => {
  const namesIn = (text: string): ReturnType<typeof names> => names({ subject: '', text });
  test.each([
    ['{{a}} {{b.c}} {{this.d}} {{[e f]}}', ['a', 'b', 'd', 'e f']],
    ['{{#each items}}{{name}}{{../b}}{{@root.c.d}}{{/each}}', ['b', 'c', 'items']],
    ['{{#each items}}{{name}}{{else}}{{empty}}{{/each}}', ['empty', 'items']],
    ['{{#each items as |item n|}}{{item.a}}{{n}}{{items}}{{/each}}', ['items']],
    ['{{#with a}}{{#if b}}{{../c}}{{../../a}}{{/if}}{{/with}}', ['a', 'c']],
    ['{{#if a}}{{b}}{{else if c}}{{d}}{{else}}{{e}}{{/if}}', ['a', 'b', 'c', 'd', 'e']],
    ['{{currency total order.code locale=lang}}', ['lang', 'order', 'total']],
    ['{{default (date at zone=zone) other}}', ['at', 'other', 'zone']],
    ['{{date}} {{url}}', ['date', 'url']],
    ['{{#each a}}{{#each ../b}}{{../../c}}{{../d}}{{/each}}{{/each}}', ['a', 'b', 'c']],
  ])('in %j are %j', (text, expected) => {
    expect(namesIn(text).names.filter((name) => expected.includes(name))).toEqual(expected);
    const surplus = namesIn(text).names.filter((name) => !expected.includes(name));
    // What leads above the outermost level is a fault; as a name it would only be too many.
    expect(surplus).toEqual([]);
  });

  test.each(['{{this}}', '{{.}}', '{{@root}}', '{{#each this}}{{/each}}', '{{#with a}}{{..}}{{/with}}'])(
    'in %j cannot be determined, so all names count',
    (text) => {
      expect(namesIn(text).all).toBe(true);
    },
  );

  test('in a template that cannot be parsed may be all names', () => {
    expect(namesIn('{{#if')).toEqual({ names: [], all: true });
    expect(names({ subject: 1, text: '' } as unknown as EmailTemplate).all).toBe(true);
  });
});

describe('the field paths that a template uses', () => {
  const fieldsIn = (text: string): readonly string[] =>
    renderer
      .fields(email({ subject: '', text }))
      .map(({ steps, type }) => `${pathText(steps)}${type ? ` ${type}` : ''}`);

  test.each([
    ['{{total}} {{customer.name}} {{total}}', ['total', 'customer.name']],
    ['{{#each items}}{{sku}} {{@index}} {{../currency}}{{/each}}', ['items array', 'items[].sku', 'currency']],
    ['{{#each lines as |line at|}}{{line.price}} {{at}}{{/each}}', ['lines array', 'lines[].price']],
    [
      '{{#with customer}}{{#each tags}}{{this}}{{/each}}{{/with}}',
      ['customer object', 'customer.tags array', 'customer.tags[]'],
    ],
    [
      '{{date paid_at}} {{currency total code}} {{number weight}}',
      ['paid_at time', 'total number', 'code', 'weight number'],
    ],
    ['{{#if (gt total 100)}}{{default name "friend"}}{{/if}} {{items.0.sku}}', ['total', 'name', 'items[0].sku']],
    ['{{@root.a}} {{this}}', ['a']],
    ['{{#if', []],
  ])('in %j are %j', (text, expected) => {
    expect(fieldsIn(text)).toEqual(expected);
  });
});
