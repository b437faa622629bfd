import { describe, expect, it } from 'vitest';
import { templateOf } from '../../src/channels/index.ts';
import type { EmailTemplate } from '../../src/configuration/index.ts';
import {
  assemble,
  bodiesIn,
  originOf,
  placeAt,
  putInsOf,
  withoutPutIns,
  type Assembled,
  type TemplateIncludes,
} from '../../src/templates/index.ts';

const includesOf = (
  partials: Readonly<Record<string, string>>,
  layouts: Readonly<Record<string, { html?: string; text?: string; mjml?: string }>> = {},
): TemplateIncludes => ({
  partial: (name) => (partials[name] === undefined ? undefined : { text: partials[name] }),
  layout: (name) => layouts[name],
});
const of = (email: Partial<EmailTemplate>, includes: TemplateIncludes): Assembled => {
  const template = templateOf({ email: { subject: 'Hi', ...email } }, 'email');
  if (!template) throw new Error('the table of channels has no email');
  return assemble(template, includes);
};
const html = (source: string, partials: Readonly<Record<string, string>>): Assembled =>
  of({ html: source }, includesOf(partials));
const faults = ({ faults: found }: Assembled): string[] =>
  found.map(({ message, origin, at }) => {
    const { line, column } = placeAt(origin.source, at);
    return `${origin.kind}${origin.name === '' ? '' : ` ${origin.name}`} ${line}:${column} ${message}`;
  });

describe('a partial (a template file included in another)', () => {
  it('replaces its tag, without the last line end of its file', () => {
    expect(html('<p>{{a}}</p>{{> footer}}<i>', { footer: '<b>{{b}}</b>\n' }).template.parts['html']).toBe(
      '<p>{{a}}</p><b>{{b}}</b><i>',
    );
  });

  it('may include other partials, and is included each time it is named', () => {
    const partials = { a: '[{{> b}}]', b: '{{x}}' };
    expect(html('{{> a}} {{> a}} {{> b}}', partials).template.parts['html']).toBe('[{{x}}] [{{x}}] {{x}}');
  });

  it('removes surrounding whitespace with ~', () => {
    expect(html('a  {{~> x ~}}\n  b', { x: '-' }).template.parts['html']).toBe('a-b');
  });

  it('is not recognized in a comment, in escaped braces, or in quotes', () => {
    for (const source of ['{{!-- {{> a}} --}}', '{{! > a}}', '\\{{> a}}', '{{default "{{> a}}" "b"}}']) {
      expect(html(source, { a: 'x' })).toMatchObject({ template: { parts: { html: source } }, partials: [] });
    }
    expect(html('\\\\{{> a}}', { a: 'x' }).template.parts['html']).toBe('\\\\x');
  });

  it('is refused by name if it is missing, includes itself, is chosen by data, or has arguments', () => {
    expect(faults(html('a\n {{> gone}}', {}))).toEqual(['template 2:2 There is no partial gone']);
    expect(faults(html('{{> a}}', { a: 'x {{> b}}', b: '{{> a}}' }))).toEqual([
      'partial b 1:1 The partial a includes itself: a, which includes b, which includes a',
    ]);
    expect(faults(html('{{> (lookup . "x")}}', {}))).toEqual(['template 1:1 The event cannot choose a partial']);
    expect(faults(html('{{> a item}}', { a: '' }))).toEqual([
      'template 1:1 The partial a takes no values: it reads what stands around it',
    ]);
    expect(faults(html('{{> ../a}}', { a: '' }))).toEqual(['template 1:1 This is no name of a partial']);
  });

  it('is refused if nested four deep, and beyond twenty inclusions in all parts together', () => {
    const deep = { a: '{{> b}}', b: '{{> c}}', c: '{{> d}}', d: 'x' };
    expect(faults(html('{{> b}}', deep))).toEqual([]);
    expect(faults(html('{{> a}}', deep))).toEqual(['partial c 1:1 More than 3 partials inside each other: a, b, c, d']);
    const thirty = of({ subject: '{{> x}}', html: '{{> x}}'.repeat(29) }, includesOf({ x: '' }));
    expect(faults(thirty)).toEqual([
      'template 1:134 The template includes more than 20 partials, counting partials inside partials',
    ]);
    expect(faults(of({ subject: '{{> x}}', html: '{{> x}}'.repeat(19) }, includesOf({ x: '' })))).toEqual([]);
  });

  it('never forms a tag with the text beside it', () => {
    expect(html('{{{> x}}a}}', { x: '' }).partials).toEqual([]);
    expect(faults(html('a { {{> x}}', { x: '{b}' }))).toEqual([]);
    expect(faults(html('{{a}}{{> x}}', { x: '}' }))).toEqual([
      'partial x 1:1 The inserted text begins with } right after }, so both would form another tag',
    ]);
    expect(faults(html('{{> x}}{{a}}', { x: 'b{' }))).toHaveLength(1);
    expect(faults(html('{{> x}}{{a}}', { x: 'b\\' }))).toHaveLength(1);
    expect(faults(html('{{a}}{{> x}}{{b}}', { x: '{{c}}' }))).toEqual([]);
  });

  it('costs little time to assemble, whatever a source contains', () => {
    const source = '{{> b}}'.repeat(9_000);
    const { template, faults: found } = html(source, { b: '{{> c}}'.repeat(9_000), c: 'x'.repeat(65_536) });
    expect(found.length).toBeLessThan(51);
    expect(template.parts['html']?.length ?? 0).toBeLessThan(2_000_000);
  });
});

describe('a layout (a template around another)', () => {
  const layouts = { basic: { html: '<main>{{{body}}}</main>\n', text: 'Hi\n{{{ body }}}\nBye' } };

  it('surrounds the body of its kind, and both may contain partials', () => {
    const includes = includesOf(
      { f: '{{x}}' },
      { basic: { ...layouts.basic, html: '<main>{{{body}}}{{> f}}</main>\n' } },
    );
    const { template, layout, partials } = of({ html: '<p>{{> f}}</p>\n', text: 'there\n', layout: 'basic' }, includes);
    expect(template.parts).toEqual({
      subject: 'Hi',
      html: '<main><p>{{x}}</p>{{x}}</main>\n',
      text: 'Hi\nthere\nBye',
    });
    expect([layout, partials]).toEqual(['basic', ['f']]);
  });

  it('needs an html part, and may lack a text part', () => {
    const only = includesOf({}, { h: { html: '{{{body}}}' }, t: { text: '{{{body}}}' } });
    expect(of({ html: 'a', text: 'b', layout: 'h' }, only)).toMatchObject({ layoutFault: null });
    expect(of({ html: 'a', layout: 't' }, only).layoutFault).toEqual({
      part: 'html',
      message: 'layout t has nothing for html',
      fix: 'write layouts/t.html, or take the layout out',
    });
    expect(of({ html: 'a', layout: 'gone' }, only).layoutFault?.message).toBe('there is no layout gone');
  });

  it('uses only {{{body}}} with three braces for the content; elsewhere body is a plain name', () => {
    expect(html('{{{body}}}', {}).template.parts['html']).toBe('{{{body}}}');
    expect([bodiesIn('{{{body}}} {{{ body }}}'), bodiesIn('{{body}} {{!-- {{{body}}} --}}')]).toEqual([2, 0]);
  });

  it('is listed, with all partials of a template, over every channel and language', () => {
    const includes = includesOf({ a: '{{> b}}', b: '', c: '' }, layouts);
    const email = {
      subject: '{{> a}}',
      text: 'x',
      layout: 'gone',
      locales: { de: { subject: '', layout: 'basic', text: 'x' } },
    };
    expect(putInsOf({ email, sms: { text: '{{> c}}' } }, includes)).toEqual({
      layouts: ['gone', 'basic'],
      partials: ['a', 'b', 'c'],
    });
  });
});

describe('a position in an assembled template', () => {
  it('is mapped to the file where it was written', () => {
    const { pieces } = of(
      { html: 'one\ntwo {{> f}} three\n', layout: 'l' },
      includesOf({ f: 'x\n y' }, { l: { html: '<a>\n{{{body}}}</a>' } }),
    );
    const at = (line: number, column: number): unknown => {
      const found = originOf(pieces['html'] ?? [], { line, column });
      return found && [found.origin.kind, placeAt(found.origin.source, found.at)];
    };
    expect(at(1, 2)).toEqual(['layout', { line: 1, column: 2 }]);
    expect(at(2, 1)).toEqual(['template', { line: 1, column: 1 }]);
    expect(at(3, 5)).toEqual(['partial', { line: 1, column: 1 }]);
    expect(at(4, 2)).toEqual(['partial', { line: 2, column: 2 }]);
    expect(at(4, 4)).toEqual(['template', { line: 2, column: 13 }]);
    expect(at(4, 9)).toEqual(['layout', { line: 2, column: 11 }]);
  });

  it('keeps its line and column if included text is blanked out', () => {
    expect(withoutPutIns('a {{> b}}\n{{{body}}} c')).toBe('a        \n           c');
  });
});
