import type { EmailTemplate } from '@carillon/domain/configuration';
import { DEFAULT_LOCALITY, type JsonObject } from '@carillon/kernel';
import Handlebars from 'handlebars';
import fc from 'fast-check';
import { afterAll, describe, expect, test } from 'vitest';

import { createEngine, planTemplate, type Compiled } from '../src/engine.ts';
import { createTemplateRenderer } from '../src/index.ts';
import { email, emailSheet } from './support/email.ts';

const engine = createEngine();
const compiled = (template: EmailTemplate): Compiled => {
  const planned = planTemplate(emailSheet(template));
  if (!planned.ok) throw new Error(planned.message);
  // As it comes from a worker.
  return engine.compile(structuredClone(planned.plan));
};
const list = (length: number): number[] => Array.from({ length }, (_, i) => i);
/** The address of a host with a name of so many different characters. */
const cjk = (length: number): string =>
  `https://${String.fromCodePoint(...Array.from({ length }, (_, n) => 0x4e_00 + n))}/`;
const nested = (depth: number): JsonObject => ({ a: depth === 0 ? 'x' : nested(depth - 1) });

describe('the main thread leaves to a worker to render', () => {
  const quotes = '"'.repeat(30_000);
  test.each<[string, string, JsonObject]>([
    ['long loops', '{{#each a}}{{this}}{{/each}}', { a: list(1990) }],
    ['loops in loops', '{{#each a}}{{#each @root.a}}{{/each}}{{/each}}', { a: list(100) }],
    ['many questions', `{{#each a}}${'{{#if (eq 1 2)}}{{/if}}'.repeat(240)}{{/each}}`, { a: list(100) }],
    ['long texts, often', '{{a}}'.repeat(400), { a: quotes }],
    ['long lists, often', '{{a}}'.repeat(400), { a: list(1000) }],
    ['long comparisons, often', '{{lt a b}}'.repeat(240), { a: `${quotes}1`, b: 'x' }],
    ['many formatters', '{{#each a}}{{number 1 minimum=this locale="de"}}{{/each}}', { a: list(20) }],
    ['many links', '{{#each a}}{{url @root.b}}{{/each}}', { a: list(1000), b: 'https://a.example/' }],
    [
      'hosts of other scripts',
      '{{#each a}}{{#if (eq "x" (url ../h))}}{{/if}}{{/each}}',
      { a: list(280), h: cjk(4000) },
    ],
    ['one of them', '{{url h}}', { h: cjk(4000) }],
    ['hosts in percent signs', '{{url h}}', { h: `https:\\\t${encodeURIComponent('一丁七'.repeat(130))}` }],
    ['what formatters show', '{{#if (eq "x" (date o))}}{{/if}}', { o: [{ a: '\u0001'.repeat(30_000) }] }],
    [
      'long fractions of a second',
      '{{date o}}{{date o}}{{date o}}',
      { o: `2026-01-01T00:00:00.${'1'.repeat(30_000)}Z` },
    ],
    ['the second of two texts', '{{eq "x" b}}{{eq "x" b}}{{eq "x" b}}', { b: 'x'.repeat(30_000) }],
    ['much that is written', `{{#each a}}${'x'.repeat(2000)}{{/each}}`, { a: list(100) }],
    ['much that has to be cleaned', `{{#each a}}\ud800${' \r'.repeat(90)}{{/each}}`, { a: list(100) }],
    ['a little, cleaned for one value', `{{a}}${'a\r\n'.repeat(6000)}`, { a: '\u0001' }],
    ['many values', 'hello', { a: list(2001) }],
    ['many characters', 'hello', { a: 'x'.repeat(40_000) }],
    ['long names', 'hello', { ['x'.repeat(40_000)]: 1 }],
    ['deep data', 'hello', nested(70)],
    ['integers beyond 2^53', '{{a}}', { a: 2n ** 60n }],
    ['what is no data', 'hello', { a: () => 1 } as unknown as JsonObject],
  ])('%s', (_name, text, context) => {
    const template = compiled({ subject: 's', text });
    expect(engine.renderSmall(template, context, DEFAULT_LOCALITY)).toBeUndefined();
    // It is the amount that it refuses.
    expect(engine.renderSmall(template, { a: 1, b: 2 }, DEFAULT_LOCALITY)).toMatchObject({ ok: true });
  });

  test('a subject or sender that renders too long', () => {
    const subject = compiled({ subject: '{{#each a}} a  b\t{{/each}}', text: 't' });
    expect(engine.renderSmall(subject, { a: list(500) }, DEFAULT_LOCALITY)).toBeUndefined();
    const from = compiled({ subject: 's', from: '{{#each a}} a  b\t{{/each}} <a@example.com>', text: 't' });
    expect(engine.renderSmall(from, { a: list(500) }, DEFAULT_LOCALITY)).toBeUndefined();
    expect(engine.renderSmall(from, { a: list(5) }, DEFAULT_LOCALITY)).toMatchObject({ ok: true });
  });

  test('the text version of long HTML', () => {
    expect(
      engine.renderSmall(compiled({ subject: 's', html: '<'.repeat(30_000) }), {}, DEFAULT_LOCALITY),
    ).toBeUndefined();
  });
});

const word = fc.oneof(fc.string(), fc.constantFrom('<b>', '"\'`=&', '😀', 'é', ''));
const item = fc.record({ name: word, n: fc.integer() }, { requiredKeys: [] });
const data = fc.record(
  { name: word, n: fc.integer(), item, items: fc.array(item, { maxLength: 3 }) },
  { requiredKeys: [] },
) as fc.Arbitrary<JsonObject>;
const program = fc.letrec<{ body: string; statement: string }>((tie) => ({
  body: fc.array(tie('statement'), { maxLength: 3 }).map((all) => all.join('')),
  statement: fc.oneof(
    { maxDepth: 3, depthSize: 'small' },
    fc.constantFrom(
      '{{name}}',
      '{{n}}',
      '{{item.name}}',
      '{{~n~}}',
      '{{items.0.name}}',
      'x',
      ' \n',
      '\n',
      '{{!-- c --}}\n',
    ),
    fc
      .tuple(
        fc.constantFrom('if name', 'if n', 'unless item', 'if items', 'each items', 'with item'),
        tie('body'),
        tie('body'),
      )
      .map(([call, body, other]) => `{{#${call}}}\n${body}{{else if n}}${other}{{else}}-\n{{/${call.split(' ')[0]}}}`),
  ),
})).body;

test('a template without Carillon’s helpers renders as with Handlebars itself, in a worker and on the main thread', () => {
  fc.assert(
    fc.property(program, data, (html, context) => {
      const template = compiled({ subject: 's', html, text: 't' });
      const theirs = Handlebars.compile(html)(context);
      const clean = theirs.toWellFormed().replace(/(?![\t\n])\p{Cc}/gu, '');
      fc.pre(!theirs.includes('\r'));
      const ours = engine.render(template, context, DEFAULT_LOCALITY);
      expect(ours).toMatchObject({ ok: true, parts: { html: clean } });
      expect(engine.renderSmall(template, context, DEFAULT_LOCALITY)).toEqual(ours);
    }),
    { numRuns: 500 },
  );
});

describe('many renderings in a row on the main thread', () => {
  const renderer = createTemplateRenderer();
  afterAll(() => renderer.close());

  test('yield to the event loop, and lose no result', async () => {
    const template = email({ subject: '{{i}}', text: `{{#each a}}{{this}}{{/each}}` });
    const context = { a: list(200) };
    await renderer.render('k', template, { ...context, i: 0 }, DEFAULT_LOCALITY);
    let turns = 0;
    let done = false;
    const count = (): void => {
      turns += 1;
      if (!done) setImmediate(count);
    };
    setImmediate(count);
    const all = await Promise.all(
      list(3000).map((i) => renderer.render('k', template, { ...context, i }, DEFAULT_LOCALITY)),
    );
    done = true;
    expect(all.map((rendered) => rendered.ok && rendered.parts['subject'])).toEqual(list(3000).map(String));
    expect(turns).toBeGreaterThan(2);
  });
});
