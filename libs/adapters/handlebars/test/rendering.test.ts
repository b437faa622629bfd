import { readFileSync } from 'node:fs';

import type { EmailTemplate } from '@carillon/domain/configuration';
import { DEFAULT_LOCALITY, type JsonObject } from '@carillon/kernel';
import type { Rendered } from '@carillon/ports';
import { afterAll, describe, expect, test } from 'vitest';

import { createTemplateRenderer, HELPERS } from '../src/index.ts';
import { email } from './support/email.ts';

const renderer = createTemplateRenderer();
afterAll(() => renderer.close());

let keys = 0;
const render = (template: EmailTemplate, context: JsonObject): Promise<Rendered> => {
  keys += 1;
  expect(renderer.check(email(template))).toEqual([]);
  return renderer.render(`test/${keys}`, email(template), context, DEFAULT_LOCALITY);
};
const textOf = async (text: string, context: JsonObject, strict = false): Promise<string> => {
  const rendered = await render({ subject: 's', text, strict }, context);
  return rendered.ok ? (rendered.parts['text'] ?? '') : `failed in ${rendered.part}: ${rendered.message}`;
};

describe('an e-mail template', () => {
  test('escapes values in HTML, and only there', async () => {
    const rendered = await render(
      { subject: 'For {{name}}', from: '{{shop}} <mail@shop.example>', html: '<p>{{name}}</p>', text: 'Hi {{name}}' },
      { name: "O'Neil & <Sons>", shop: 'The Shop' },
    );
    expect(rendered).toEqual({
      ok: true,
      parts: {
        subject: "For O'Neil & <Sons>",
        from: 'The Shop <mail@shop.example>',
        html: '<p>O&#x27;Neil &amp; &lt;Sons&gt;</p>',
        text: "Hi O'Neil & <Sons>",
      },
      missing: [],
    });
  });

  test('gets a text version made from its HTML if it has none', async () => {
    const rendered = await render(
      { subject: 's', html: '<h1>Hi</h1><p>A &amp; <a href="https://b.example/">b</a></p>' },
      {},
    );
    expect(rendered).toMatchObject({ parts: { text: 'Hi\n\nA & b (https://b.example/)' } });
  });

  test('reports missing variable names, also within lists', async () => {
    const rendered = await render(
      { subject: '{{customer.name}}', text: '{{#each items as |item|}}{{item.price}}{{title}}{{/each}}{{total}}' },
      { items: [{ price: 1 }, { title: 'x' }], total: null },
    );
    expect(rendered).toMatchObject({ ok: true, missing: ['customer.name', 'items[].title', 'items[].price'] });
  });

  test('fails on a missing variable if it is strict', async () => {
    expect(await textOf('Hi {{customer.name}}', { customer: {} }, true)).toBe(
      'failed in text: customer.name is missing, and the template is strict',
    );
  });

  test('may test for a missing variable if it is strict', async () => {
    const asking = '{{#if a}}a{{else}}-{{/if}}{{default b "c"}}{{#each d}}{{else}}none{{/each}}{{eq e null}}';
    expect(await textOf(asking, {}, true)).toBe('-cnonetrue');
  });

  test('is rendered from the given source, even under a cache key that another template had', async () => {
    const first = await renderer.render('same', email({ subject: 'one', text: '1' }), {}, DEFAULT_LOCALITY);
    const second = await renderer.render('same', email({ subject: 'two', text: '2' }), {}, DEFAULT_LOCALITY);
    expect([first, second]).toMatchObject([{ parts: { subject: 'one' } }, { parts: { subject: 'two' } }]);
  });

  test('gives one-line headers of bounded length', async () => {
    const rendered = await render(
      { subject: 'Hi {{name}}', from: '{{name}} <a@shop.example>', text: 't' },
      { name: `x\r\nBcc: "evil" <evil@x.example>, ${'y'.repeat(400)}` },
    );
    expect(rendered.ok && rendered.parts['subject']?.length).toBe(255);
    expect(rendered.ok && rendered.parts['subject']?.startsWith('Hi x Bcc: "evil" <evil@x.example>, yyy')).toBe(true);
    expect(rendered.ok && rendered.parts['from']?.startsWith('x Bcc evil evil@x.example yyy')).toBe(true);
  });
});

describe('the template helpers', () => {
  const order = {
    name: 'Ada',
    date: 'a field named like a helper',
    paid_at: '2025-03-30T01:30:00Z',
    day: '2025-03-30',
    total: 1234.5,
    big: 9007199254740993n,
    count: 1,
    none: 0,
    link: 'https://shop.example/o?a=1&b=2',
    status: 'paid',
    customer: { name: 'Bob', tags: ['x', 'y'], address: { city: 'Ulm' } },
    items: [
      { name: 'Pen', lines: ['a'] },
      { name: 'Ink', lines: ['b', 'c'] },
    ],
  };
  test.each([
    ['a name alone is a variable, also if a helper has that name', '{{date}}', 'a field named like a helper'],
    ['a list is joined by commas', '{{customer.tags}}', 'x, y'],
    ['an object is its JSON', '{{customer.address}}', '{"city":"Ulm"}'],
    ['an integer beyond doubles is exact', '{{big}} {{number big}}', '9007199254740993 9,007,199,254,740,993'],
    ['zero and false are shown', '{{none}} {{eq none 1}}', '0 false'],
    ['../ leads out of each and with, not of if', '{{#each items}}{{#if name}}{{../name}}{{/if}}{{/each}}', 'AdaAda'],
    [
      '../ counts levels also where the data is the same',
      '{{#with this}}{{#with this}}{{../../name}}{{/with}}{{/with}}',
      'Ada',
    ],
    [
      'nested loops see both items',
      '{{#each items as |i n|}}{{#each i.lines}}{{n}}{{i.name}}{{this}} {{/each}}{{/each}}',
      '0Pena 1Inkb 1Inkc ',
    ],
    ['loops count', '{{#each items}}{{@index}}{{#unless @last}},{{/unless}}{{/each}}', '0,1'],
    ['outer loops count too', '{{#each items}}{{#each lines}}{{@../index}}{{@index}} {{/each}}{{/each}}', '00 10 11 '],
    ['an object is walked by key', '{{#each customer.address as |v k|}}{{k}}={{v}}{{@key}}{{/each}}', 'city=Ulmcity'],
    ['the whole context is at @root', '{{#with customer}}{{@root.name}} {{name}}{{/with}}', 'Ada Bob'],
    ['a list has a length', '{{items.length}} {{items.0.name}} {{items.[1].name}}', '2 Pen Ink'],
    ['else if', '{{#if none}}a{{else if (eq status "paid")}}b{{else}}c{{/if}}', 'b'],
    ['~ takes blanks away', 'a {{~name~}} b', 'aAdab'],
    [
      'date in the zone and language asked for',
      '{{date paid_at time="short" zone="Europe/Berlin" locale="de"}}',
      '30.03.2025, 03:30',
    ],
    ['date without a time is the same day in every zone', '{{date day zone="America/New_York"}}', 'Mar 30, 2025'],
    ['date that is none stays as it is', '{{date name}}', 'Ada'],
    ['number with digits', '{{number total minimum=2}} {{number 0.256 style="percent"}}', '1,234.50 26%'],
    ['currency', '{{currency total "EUR" locale="de"}} {{currency total "JPY"}}', '1.234,50\u00a0€ ¥1,235'],
    [
      'plural in English',
      '{{plural count one="item" other="items"}} {{plural 2 one="item" other="items"}}',
      'item items',
    ],
    ['plural in Polish', '{{plural 3 locale="pl" one="plik" few="pliki" many="plików" other="pliku"}}', 'pliki'],
    ['default', '{{default nick name}} {{default name "x"}}', 'Ada Ada'],
    ['url for https', '{{url link}}', 'https://shop.example/o?a=1&b=2'],
    [
      'url for nothing else',
      '[{{url name}}{{url "javascript:alert(1)"}}{{url "https://shop.example@evil.example/"}}]',
      '[]',
    ],
    ['lt and gt', '{{lt total 2000}} {{gt total 2000}} {{gt big 5}} {{lt name 5}}', 'true false true false'],
    ['ne', '{{ne status "paid"}} {{ne nothing null}}', 'false false'],
    ['braces by a backslash', '\\{{name}} {{name}}', '{{name}} Ada'],
  ])('%s', async (_name, source, expected) => {
    expect(await textOf(source, order)).toBe(expected);
  });
});

test('the documentation page of templates shows every helper and every limit', () => {
  const page = readFileSync(new URL('../../../../docs/template-language.md', import.meta.url), 'utf8');
  for (const [name, helper] of Object.entries(HELPERS)) {
    expect(page, name).toContain(helper.example);
    for (const option of Object.keys(helper.options)) expect(page, `${name} ${option}`).toContain(`\`${option}\``);
  }
  for (const limit of ['64 KB', '2 KB', '500', '4,000', '100', '8', '256 KB', '10,000', '255', '250 ms', '2 s']) {
    expect(page).toContain(`| ${limit} |`);
  }
});

test('a renderer that is closed finishes running work, and refuses later work', async () => {
  const short = createTemplateRenderer({ workers: 2 });
  const work = Array.from({ length: 50 }, (_, i) =>
    short.render('k', email({ subject: '{{i}}', text: 't' }), { i }, DEFAULT_LOCALITY),
  );
  await short.close();
  expect((await Promise.all(work)).map((rendered) => rendered.ok && rendered.parts['subject'])).toEqual(
    Array.from({ length: 50 }, (_, i) => String(i)),
  );
  await expect(short.render('k', email({ subject: 's', text: 't' }), {}, DEFAULT_LOCALITY)).rejects.toThrow('closed');
});
