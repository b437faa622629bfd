import type { EmailTemplate } from '@carillon/domain/configuration';
import { DEFAULT_LOCALITY, type JsonObject } from '@carillon/kernel';
import type { Rendered } from '@carillon/ports';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

import { inspect } from '../src/check.ts';
import { createEngine, planTemplate } from '../src/engine.ts';
import { namesOf } from '../src/names.ts';
import { textOfHtml } from '../src/plain-text.ts';
import { emailSheet } from './support/email.ts';

// The same engine that runs in the workers; the way through the workers is in rendering.test.ts and hostile.test.ts.
const engine = createEngine();
const render = (template: EmailTemplate, context: JsonObject): Rendered => {
  const planned = planTemplate(emailSheet(template));
  return planned.ok ? engine.render(engine.compile(planned.plan), context, DEFAULT_LOCALITY) : planned;
};

const fragments = fc.constantFrom(
  '{{',
  '}}',
  '{{{',
  '}}}',
  '{{#if a}}',
  '{{/if}}',
  '{{else}}',
  '{{#each a}}',
  '{{/each}}',
  '{{a}}',
  '{{../a}}',
  'a',
  '.',
  '"',
  "'",
  '(',
  ')',
  '[',
  ']',
  '|',
  '=',
  ' as |x|',
  '{{date a',
  '{{>',
  '{{!',
  '--}}',
  '@index',
  '\\',
  '\n',
  '~',
  '<a href=',
);
const source = fc
  .array(fc.oneof({ weight: 4, arbitrary: fragments }, fc.string({ maxLength: 4 })), { maxLength: 14 })
  .map((all) => all.join(''));
const value = fc.letrec<{ value: unknown }>((tie) => ({
  value: fc.oneof(
    { maxDepth: 3 },
    fc.oneof(
      fc.string(),
      fc.integer(),
      fc.boolean(),
      fc.constant(null),
      fc.constantFrom('<b>', 'https://a.example', '2025-01-01'),
    ),
    fc.array(tie('value'), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom('a', 'b', 'c', 'constructor', '__proto__'), tie('value'), { maxKeys: 3 }),
  ),
})).value;
const context = fc.dictionary(fc.constantFrom('a', 'b', 'c', 'd'), value) as fc.Arbitrary<JsonObject>;

/** Programs of the language, mostly valid. */
const paths = fc.constantFrom(
  'a',
  'b',
  'c',
  'a.b',
  'this',
  'this.a',
  '../a',
  '../../b',
  '@root.c',
  '@index',
  '@key',
  '@../index',
  '@last',
  'x',
  'x.a',
  'k',
  'a.length',
  'c.0',
);
const program = fc.letrec<{ body: string; statement: string }>((tie) => ({
  body: fc.array(tie('statement'), { maxLength: 3 }).map((all) => all.join(' ')),
  statement: fc.oneof(
    { maxDepth: 3, depthSize: 'small' },
    fc.oneof(
      paths.map((path) => `{{${path}}}`),
      fc.tuple(paths, paths).map(([a, b]) => `{{default ${a} ${b}}}`),
      fc.tuple(paths, paths).map(([a, b]) => `{{number ${a} locale=${b}}}{{eq ${a} ${b}}}`),
    ),
    fc
      .tuple(fc.constantFrom('if', 'unless', 'each', 'with'), paths, tie('body'), tie('body'))
      .map(([helper, path, body, other]) => `{{#${helper} ${path}}}${body}{{else}}${other}{{/${helper}}}`),
    fc.tuple(paths, tie('body')).map(([path, body]) => `{{#each ${path} as |x k|}}${body}{{/each}}`),
    fc.tuple(paths, tie('body')).map(([path, body]) => `{{#with ${path} as |x|}}${body}{{/with}}`),
  ),
})).body;

describe('laws of templates', () => {
  test('no source and no data makes check, names or render throw', () => {
    fc.assert(
      fc.property(source, source, context, fc.boolean(), (html, subject, data, strict) => {
        const template = { subject, html, strict };
        const faults = inspect(emailSheet(template)).faults;
        namesOf(emailSheet(template));
        const rendered = render(template, data);
        // What check lets through can be compiled: it fails only for its data, under strict.
        if (faults.length === 0 && !strict) expect(rendered.ok).toBe(true);
        if (faults.length > 0) expect(rendered.ok).toBe(false);
        for (const fault of faults) expect(fault.line > 0 && fault.column > 0 && fault.message !== '').toBe(true);
      }),
      { numRuns: 1500 },
    );
  });

  test('no value inserts markup into HTML', () => {
    const html =
      '{{a}} {{#each a}}{{this}}{{/each}} {{date a}} {{number a}} {{default a "x"}} {{url a}} {{currency a b}}';
    const nasty = fc.oneof(
      fc.string(),
      fc.constantFrom('<script>', '"><img src=x>', '&lt;', "'", '`'),
      value,
    ) as fc.Arbitrary<string>;
    fc.assert(
      fc.property(nasty, nasty, (a, b) => {
        const rendered = render({ subject: '', html }, { a, b });
        expect(rendered.ok && rendered.parts['html']).not.toMatch(/[<>"'`]/);
      }),
    );
  });

  test('no value inserts a control character or a second line into a mail header', () => {
    const nasty = fc.string({ unit: 'binary', maxLength: 400 });
    fc.assert(
      fc.property(nasty, (a) => {
        const rendered = render({ subject: 'Hi {{a}}', from: '{{a}} <x@a.example>', text: '' }, { a });
        if (!rendered.ok) throw new Error(rendered.message);
        expect(rendered.parts['subject']).not.toMatch(/[\p{Cc}\u2028\u2029]/u);
        expect(rendered.parts['subject']?.length).toBeLessThanOrEqual(255);
        expect(rendered.parts['subject']?.isWellFormed()).toBe(true);
        expect(rendered.parts['from']).not.toMatch(/[\p{Cc}\u2028\u2029]/u);
        expect(rendered.parts['from']?.match(/[<>",]/g)?.length ?? 0).toBeLessThanOrEqual(2);
      }),
    );
  });

  test('a template needs only the names that are listed for it', () => {
    let valid = 0;
    fc.assert(
      fc.property(program, context, (text, data) => {
        const template = { subject: 's', text };
        if (inspect(emailSheet(template)).faults.length > 0) return;
        valid += 1;
        const { names, all } = namesOf(emailSheet(template));
        if (all) return;
        const needed = Object.fromEntries(Object.entries(data).filter(([name]) => names.includes(name)));
        expect(render(template, needed)).toEqual(render(template, data));
      }),
      { numRuns: 3000 },
    );
    expect(valid).toBeGreaterThan(300);
  });

  test('rendering twice gives the same text, also after another template was rendered in between', () => {
    fc.assert(
      fc.property(program, program, context, (text, other, data) => {
        const planned = planTemplate(emailSheet({ subject: 's', text }));
        if (!planned.ok) return;
        const compiled = engine.compile(planned.plan);
        const first = engine.render(compiled, data, DEFAULT_LOCALITY);
        render({ subject: 'o', text: other, strict: true }, data);
        expect(engine.render(compiled, data, DEFAULT_LOCALITY)).toEqual(first);
      }),
      { numRuns: 300 },
    );
  });

  test('any HTML can be converted to text', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: fc.constantFrom('<', '>', 'a', '/', '"', '=', ' ', '&', '!', '-', 'p', ';') }),
        (html) => {
          expect(textOfHtml(html)).not.toMatch(/\n{3}/);
        },
      ),
    );
  });
});
