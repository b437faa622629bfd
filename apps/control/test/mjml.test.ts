import type { WantedResource } from '@carillon/configuration';
import { EMPTY_CONFIGURATION } from '@carillon/domain/configuration';
import { expect, it } from 'vitest';
import { compileTemplates, type CompilePorts } from '../src/mjml.ts';

const template = (name: string, mjml: string): WantedResource => ({
  ref: { kind: 'template', workspace: 'shop', name },
  body: { email: { subject: 'Paid', mjml, locales: { de: { subject: 'Bezahlt', mjml } } } },
});

/** A compiler that returns its source, records it, and stops at a source with `hangs`. */
function givenCompiler(): { readonly given: string[]; readonly ports: CompilePorts } {
  const given: string[] = [];
  const stopped = { line: 1, column: 1, message: 'The compiler stopped: it hung', fix: 'Make it simpler.' };
  const compile: CompilePorts['mjml']['compile'] = async (source) => {
    given.push(source);
    return source.includes('hangs') ? { ok: false, stopped: true, faults: [stopped] } : { ok: true, html: source };
  };
  return { given, ports: { mjml: { compile }, templates: { check: () => [] } } };
}

it('a template that hangs the MJML compiler delays other requests by the time of one template only', async () => {
  const { given, ports } = givenCompiler();
  const wanted = [template('good', 'is fine'), ...Array.from({ length: 20 }, (_, at) => template(`t${at}`, 'hangs'))];
  const { faults } = await compileTemplates(wanted, EMPTY_CONFIGURATION, false, ports);
  expect(given).toEqual(['is fine', 'is fine', 'hangs']);
  expect(faults).toHaveLength(40);
  expect(faults[0]).toMatchObject({ ref: { name: 't0' }, message: 'The compiler stopped: it hung' });
  expect(faults[1]).toMatchObject({
    ref: { name: 't0' },
    message:
      'This template was not compiled, because another MJML template of the same change is too large. The compiler stopped: it hung',
  });

  // It is this plan alone that is refused.
  const next = await compileTemplates([template('good', 'is fine')], EMPTY_CONFIGURATION, false, ports);
  expect(next.faults).toEqual([]);
  expect(given).toHaveLength(5);
});
