import type { Locality } from '@carillon/kernel';
import { afterAll, describe, expect, test } from 'vitest';

import { formatDate, formattersMade } from '../src/formatting.ts';
import { createTemplateRenderer } from '../src/index.ts';
import { email } from './support/email.ts';

const AT = '2026-07-01T22:30:00Z';
const BERLIN: Locality = { locale: 'de-DE', timeZone: 'Europe/Berlin' };
const TOKYO: Locality = { locale: 'fr', timeZone: 'Asia/Tokyo' };
const text =
  '{{date at style="short" time="short"}} {{number n}} {{plural n one="eins" other="mehr"}} {{currency n "EUR"}}';
const template = email({ subject: 's', text });

const renderer = createTemplateRenderer();
afterAll(() => renderer.close());
const shown = async (locality: Locality, data = {}): Promise<string | undefined> => {
  const rendered = await renderer.render('k', template, { at: AT, n: 1.5, ...data }, locality);
  return rendered.ok ? rendered.parts['text'] : 'failed';
};
const GERMAN = '02.07.26, 00:30 1,5 mehr 1,50\u{a0}€';
const FRENCH = '02/07/2026 07:30 1,5 eins 1,50\u{a0}€';

describe('a template, rendered for readers in several zones and languages,', () => {
  test('shows each reader’s own time and numbers, in a worker and on the main thread', async () => {
    const much = { more: Array.from({ length: 3000 }, (_, i) => i) };
    expect(await shown(BERLIN, much)).toBe(GERMAN);
    expect(await shown(TOKYO, much)).toBe(FRENCH);
    for (let round = 0; round < 3; round += 1) {
      expect(await shown(BERLIN)).toBe(GERMAN);
      expect(await shown(TOKYO)).toBe(FRENCH);
    }
  });
  test('uses a zone or locale given in the template first, and ignores one that does not exist', () => {
    expect(formatDate(AT, { style: 'short', time: 'short', zone: 'UTC', locale: 'en' }, BERLIN)).toBe(
      '7/1/26, 10:30 PM',
    );
    expect(formatDate(AT, { style: 'short', time: 'short', zone: 'Mars/Base', locale: 'xx' }, BERLIN)).toBe(
      '02.07.26, 00:30',
    );
  });
});

describe('cached formatters for dates and numbers', () => {
  test('are made once for each locale and zone', () => {
    for (const locality of [BERLIN, TOKYO]) formatDate(AT, {}, locality);
    const before = formattersMade();
    for (let round = 0; round < 100; round += 1) for (const locality of [BERLIN, TOKYO]) formatDate(AT, {}, locality);
    expect(formattersMade()).toBe(before);
  });
  test('for unusual locales in the data evict no frequently used ones', () => {
    formatDate(AT, {}, BERLIN);
    let again = 0;
    for (let n = 0; n < 2000; n += 1) {
      formatDate(AT, {}, { locale: `en-x-a${n}`, timeZone: 'UTC' });
      const before = formattersMade();
      formatDate(AT, {}, BERLIN);
      again += formattersMade() - before;
    }
    expect(again).toBe(0);
  });
  test('are evicted beyond a maximum, least recently used first', () => {
    const odd: Locality = { locale: 'en-x-once', timeZone: 'UTC' };
    formatDate(AT, {}, odd);
    for (let n = 0; n < 300; n += 1) formatDate(AT, {}, { locale: `en-x-b${n}`, timeZone: 'UTC' });
    const before = formattersMade();
    formatDate(AT, {}, odd);
    expect(formattersMade()).toBe(before + 1);
  });
});
