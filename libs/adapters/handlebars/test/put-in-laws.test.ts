import { templateOf, variantsOf } from '@carillon/domain/channels';
import type { EmailTemplate } from '@carillon/domain/configuration';
import { assemble, type TemplateIncludes } from '@carillon/domain/templates';
import { DEFAULT_LOCALITY, type JsonObject } from '@carillon/kernel';
import type { Rendered } from '@carillon/ports';
import fc from 'fast-check';
import { expect, test } from 'vitest';

import { inspect, inspectPiece } from '../src/check.ts';
import { createEngine, planTemplate } from '../src/engine.ts';
import { templateSourceOf } from '../src/template-source.ts';

const engine = createEngine();
const render = (template: Parameters<typeof templateSourceOf>[0], context: JsonObject): Rendered => {
  const planned = planTemplate(templateSourceOf(template));
  return planned.ok ? engine.render(engine.compile(planned.plan), context, DEFAULT_LOCALITY) : planned;
};
const emailOf = (body: EmailTemplate, includes: TemplateIncludes) => {
  const written = templateOf({ email: body }, 'email');
  if (!written) throw new Error('the table of channels has no email');
  return assemble(written, includes);
};
const NOTHING: TemplateIncludes = { layout: () => undefined, partial: () => undefined };

/** Texts that are whole by themselves, with a `§` where another may stand. */
const words = fc.constantFrom('a', ' b ', '<i>', '</i>', '\n', '.', '§', '§');
const tags = fc.constantFrom('{{x}}', '{{y.z}}', '{{number n}}', '{{~x~}}', '{{!-- no --}}', '{{../x}}', '\\{{x}}');
const whole: fc.Arbitrary<string> = fc.letrec<{ text: string }>((tie) => ({
  text: fc
    .array(
      fc.oneof(
        { maxDepth: 2 },
        fc.oneof(words, words, tags),
        tie('text').map((inner) => `{{#if x}}${inner}{{else}}-{{/if}}`),
        tie('text').map((inner) => `{{#each list}}${inner}{{@index}}{{/each}}`),
        tie('text').map((inner) => `{{#with y}}${inner}{{/with}}`),
      ),
      { maxLength: 5 },
    )
    .map((all) => all.join('')),
})).text;
const plain = (text: string): string => text.replaceAll('§', '');
const context: fc.Arbitrary<JsonObject> = fc.record({
  x: fc.constantFrom('', 'X', '<&>', 0, true),
  y: fc.record({ z: fc.string({ maxLength: 3 }), x: fc.constant('inner') }),
  n: fc.integer(),
  list: fc.array(fc.constantFrom<JsonObject>({ x: 'one' }, {}), { maxLength: 3 }),
});
/** Removes the final line end, which is not included. */
const ending = (text: string): string => text.replace(/\n$/, '');

test('a layout, partials and a language render the same text as one combined template, or are refused', () => {
  let rendered = 0;
  fc.assert(
    fc.property(whole, whole, whole, context, (layout, body, partial, data) => {
      const inner = ending(plain(partial));
      const includes: TemplateIncludes = {
        layout: () => ({ html: `${plain(layout)}|{{{body}}}|{{> p}}` }),
        partial: () => ({ text: `${inner}\n` }),
      };
      const own = body.replaceAll('§', '{{> p}}').replaceAll(/(?:\{\{> p\}\}.*?){15}/gs, '');
      const base = { subject: 's', html: 'unused', layout: 'l' };
      const [, german] = variantsOf(
        { email: { ...base, locales: { de: { subject: 's', html: `${own}\n` } } } },
        'email',
      );
      if (!german) throw new Error('there is a language');
      const put = assemble(german, includes);
      const text = `${plain(layout)}|${own.replaceAll('{{> p}}', inner)}|${inner}`;
      const one = emailOf({ subject: 's', html: text }, NOTHING);
      if (put.faults.length > 0) return;
      expect(put.template.parts['html']).toBe(text);
      const [apart, together] = [render(put.template, data), render(one.template, data)];
      expect(apart).toEqual(together);
      if (apart.ok) rendered += 1;
    }),
    { numRuns: 400 },
  );
  expect(rendered).toBeGreaterThan(50);
});

test('a template that is valid alone stays valid when it is included anywhere', () => {
  fc.assert(
    fc.property(whole, whole, (text, partial) => {
      if (inspectPiece(plain(text)).length > 0 || inspectPiece(plain(partial)).length > 0) return;
      const includes: TemplateIncludes = { ...NOTHING, partial: () => ({ text: plain(partial) }) };
      const put = emailOf({ subject: 's', text: text.replaceAll('§', '{{> p}}') }, includes);
      if (put.faults.length > 0) return;
      const { faults } = inspect(templateSourceOf(put.template));
      // Faults that depend on the including text: missing levels, and totals over all parts.
      for (const { message } of faults)
        expect(message).toMatch(/leads above|exists only inside|More than|more than|no content/);
    }),
    { numRuns: 300 },
  );
});

test('combining any template sources takes bounded time and never throws', () => {
  const scraps = fc.constantFrom(
    '{{> p}}',
    '{{>',
    '}}',
    '{{{body}}}',
    '{{',
    '\\',
    '{{!--',
    '--}}',
    '"',
    '{{~> p~}}',
    '{',
    'a',
    '\n',
    '{{> p x}}',
    '{{> (y)}}',
  );
  const source = fc.array(scraps, { maxLength: 40 }).map((all) => all.join(''));
  fc.assert(
    fc.property(source, source, source, (html, partial, layout) => {
      const includes: TemplateIncludes = {
        layout: () => ({ html: layout, text: layout }),
        partial: () => ({ text: partial }),
      };
      const { template, pieces, faults } = emailOf({ subject: 's', html, text: html, layout: 'l' }, includes);
      for (const [name, list] of Object.entries(pieces)) {
        expect(list.map(({ text }) => text).join('')).toBe(template.parts[name]);
        for (const { origin, start, text } of list) expect(origin.source.slice(start, start + text.length)).toBe(text);
      }
      expect(faults.length).toBeLessThan(200);
    }),
    { numRuns: 500 },
  );
});
