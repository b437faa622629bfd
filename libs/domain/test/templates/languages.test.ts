import {
  CHANGED_BY_OWNER,
  EMPTY_CONFIGURATION,
  foldConfiguration,
  type Configuration,
  type ResourceBodies,
  type ResourceKind,
} from '../../src/configuration/index.ts';
import { findTemplates, languagesFor, templateForReader, variantFor } from '../../src/templates/index.ts';
import { describe, expect, it } from 'vitest';

const after = (
  before: Configuration,
  changes: readonly (readonly [ResourceKind, string, ResourceBodies[ResourceKind]])[],
): Configuration => {
  const number = before.number + 1;
  const record = {
    id: `cfg_${number}`,
    at: '2026-01-01T00:00:00Z',
    by: CHANGED_BY_OWNER,
    changes: changes.map(([kind, name, body]) => {
      const ref = { kind, workspace: 'shop', name };
      return { ref, based_on: before.resources.get(`${kind}:shop/${name}`)?.number ?? null, body };
    }),
  };
  return foldConfiguration(before, record, number).configuration;
};
const sms = (locales: readonly string[]) => ({
  sms: { text: 'base', locales: Object.fromEntries(locales.map((tag) => [tag, { text: tag }])) },
});
const given = (locale: string | undefined, locales: readonly string[]): Configuration =>
  after(EMPTY_CONFIGURATION, [
    ['workspace', '', locale === undefined ? {} : { locale }],
    ['template', 'paid', sms(locales)],
  ]);
const chosen = (configuration: Configuration, locale: string): string | null | undefined => {
  const found = findTemplates(configuration, 'shop', 'paid', 'sms');
  return found && variantFor(found, { locale }, configuration, 'shop')?.variant;
};

describe('the language of a message', () => {
  it('is the reader’s, then that without its region, then the workspace’s, then that without its region', () => {
    expect(chosen(given('fr', ['de-AT', 'de', 'fr']), 'de-AT')).toBe('de-AT');
    expect(chosen(given('fr', ['de-AT', 'de', 'fr']), 'de-CH')).toBe('de');
    expect(chosen(given('fr', ['de-AT', 'fr']), 'de')).toBe('fr');
    expect(chosen(given('fr-CA', ['de', 'fr']), 'es')).toBe('fr');
    expect(chosen(given('fr', ['de']), 'es')).toBeNull();
    expect(chosen(given(undefined, ['de']), 'de-DE')).toBe('de');
    expect(chosen(given(undefined, []), 'de')).toBeNull();
  });

  it('is found for a reader’s tag in any case and form', () => {
    expect(chosen(given('en', ['de-AT', 'zh-Hant']), 'DE-at')).toBe('de-AT');
    expect(languagesFor('zh-Hant-TW', 'en')).toEqual(['zh-Hant-TW', 'zh-Hant', 'zh', 'en']);
    expect(languagesFor('de-u-co-phonebk', 'de')).toEqual(['de-u-co-phonebk', 'de-u-co', 'de']);
  });
});

describe('the template of a message', () => {
  const read = (configuration: Configuration, locale: string) => {
    const found = templateForReader(configuration, 'shop', 'paid', 'sms', { locale });
    return [found?.chosen?.variant, found?.language];
  };

  it('is in each reader’s own language, however many languages were requested before', () => {
    const configuration = given('en', ['de', 'fr']);
    const regions = Array.from({ length: 200 }, (_, n) => `de-${String(100 + n)}`);
    for (const locale of ['de-AT', 'fr', ...regions, 'de-AT', 'fr', 'es']) {
      const language = locale.slice(0, 2);
      expect(read(configuration, locale)).toEqual(
        language === 'es'
          ? [null, 'written in no language of its own (there are de, fr; the reader’s is es)']
          : [language, `written in ${language} (the reader’s is ${locale})`],
      );
    }
  });

  it('follows the workspace language of its own configuration', () => {
    const before = given('fr', ['de', 'fr']);
    expect(read(before, 'es')[0]).toBe('fr');
    const later = after(before, [['workspace', '', { locale: 'de' }]]);
    expect([read(later, 'es')[0], read(before, 'es')[0]]).toEqual(['de', 'fr']);
  });
});

describe('a layout that is edited', () => {
  const email = { subject: 'Hi', html: '<p>', layout: 'basic' };
  const first = after(EMPTY_CONFIGURATION, [
    ['layout', 'basic', { html: 'one {{{body}}}' }],
    ['template', 'mail', { email }],
    ['workspace', '', {}],
  ]);
  const second = after(first, [['layout', 'basic', { html: 'two {{{body}}}' }]]);
  const third = after(second, [['workspace', '', { name: 'Shop' }]]);
  const html = (configuration: Configuration) => {
    const found = findTemplates(configuration, 'shop', 'mail', 'email');
    return found && variantFor(found, { locale: 'en' }, configuration, 'shop');
  };

  it('applies only to events that are evaluated after the change', () => {
    expect([html(first), html(second)].map((one) => one?.template.parts['html'])).toEqual(['one <p>', 'two <p>']);
    expect(html(first)?.key).not.toBe(html(second)?.key);
  });

  it('keeps its assembled templates while it is unchanged', () => {
    expect(html(third)).toBe(html(second));
    expect(html(first)).toBe(html(first));
  });
});

it('a template that names a missing file, or was never compiled, reports that and renders nothing', () => {
  const broken = after(EMPTY_CONFIGURATION, [
    ['template', 'layout', { email: { subject: 'Hi', html: '<p>', layout: 'gone' } }],
    ['template', 'partial', { sms: { text: 'a {{> gone}}' } }],
    ['template', 'mjml', { email: { subject: 'Hi', mjml: '<mjml></mjml>' } }],
  ]);
  const fault = (name: string, channel: 'email' | 'sms') =>
    findTemplates(broken, 'shop', name, channel)?.variants.map((one) => one.fault);
  expect(fault('layout', 'email')).toEqual(['there is no layout gone']);
  expect(fault('partial', 'sms')).toEqual(['text: There is no partial gone (line 1, column 3)']);
  expect(fault('mjml', 'email')).toEqual(['html: its mjml was never compiled']);
});
