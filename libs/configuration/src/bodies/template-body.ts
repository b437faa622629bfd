import type { TemplateBody } from '@carillon/domain/configuration';
import { canonicalLocale } from '@carillon/domain/templates';
import { isLocale } from '@carillon/kernel';
import type { Report } from '../checks/finding.ts';
import { meantLocale } from '../files/meant-locality.ts';
import { isGroup, type ValuePath } from '../value-path.ts';

/** Parts of a channel with separate files, which must not be empty. */
const TEXTS = ['html', 'mjml', 'text'] as const;

/** Checks what the files of a template express by being present, and the body by its keys. */
export function checkTemplateBody(body: TemplateBody, report: Report): void {
  for (const [channel, parts] of Object.entries(body)) {
    checkTexts(parts, [channel], report);
    for (const [locale, own] of Object.entries<object>(parts.locales ?? {})) {
      checkLanguage(locale, [channel, 'locales', locale], report);
      checkTexts(own, [channel, 'locales', locale], report);
    }
  }
  const { email } = body;
  if (email && TEXTS.every((part) => email[part] === undefined)) {
    report.fault(['email'], { code: 'body_missing', facts: {} });
  }
}

function checkTexts(parts: object, path: ValuePath, report: Report): void {
  if (!isGroup(parts)) return;
  for (const part of TEXTS) {
    const text = parts[part];
    if (typeof text !== 'string' || text.trim() !== '') continue;
    report.fault([...path, part], { code: 'text_empty', facts: { part } });
  }
  if (parts['html'] === undefined || parts['mjml'] === undefined) return;
  report.fault([...path, 'mjml'], { code: 'html_and_mjml', facts: {} });
}

function checkLanguage(locale: string, path: ValuePath, report: Report): void {
  if (isLocale(locale) && canonicalLocale(locale) === locale) return;
  const facts = { language: locale, meant: meantLocale(locale) ?? '' };
  report.fault(path, { code: 'language_invalid', facts }, 'key');
}

/**
 * Returns a template body as its author wrote it, which is also what `export` writes: without HTML compiled from MJML,
 * and without a key for languages if a channel has none.
 */
export function writtenTemplate(body: TemplateBody): TemplateBody {
  return Object.fromEntries(
    Object.entries(body).map(([channel, { locales, ...base }]) => [
      channel,
      {
        ...withoutHtml(base),
        ...(locales &&
          Object.keys(locales).length > 0 && {
            locales: Object.fromEntries(Object.entries(locales).map(([name, own]) => [name, withoutHtml(own)])),
          }),
      },
    ]),
  );
}

function withoutHtml<Body extends object>(body: Body): Body {
  if (!('mjml' in body && 'html' in body)) return body;
  const { html: _compiled, ...written } = body;
  return written as Body;
}
