import type { Bodies } from '../../api/draft-calls.ts';
import type { NewKind } from '../setup/new-setup.tsx';

export type TemplateBody = Bodies['templates'];
export type Channel = 'email' | 'sms' | 'push';
export const CHANNELS: readonly Channel[] = ['email', 'sms', 'push'];
export const CHANNEL_NAMES: Readonly<Record<Channel, string>> = { email: 'Email', sms: 'SMS', push: 'Push' };

/** The tab of what is written in no language of its own. */
export const BASE = '';

type Loose = Readonly<Record<string, unknown>>;
const group = (value: unknown): Loose =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Loose) : {};

export const channelsIn = (body: unknown): readonly Channel[] =>
  CHANNELS.filter((channel) => group(body)[channel] !== undefined);

/** Languages that a channel is written in, beside the one without. */
export const localesIn = (body: unknown, channel: Channel): readonly string[] =>
  Object.keys(group(group(group(body)[channel])['locales']));

/** What a channel says in a language: the parts of the variant itself, nothing of what it falls back to. */
export const variantIn = (body: unknown, channel: Channel, locale: string): Loose => {
  const own = group(group(body)[channel]);
  return locale === BASE ? own : group(group(own['locales'])[locale]);
};

/** The text of one part; empty where it has none. */
export function partIn(body: unknown, channel: Channel, locale: string, part: string): string {
  const value = variantIn(body, channel, locale)[part];
  return typeof value === 'string' ? value : '';
}

function without(from: Loose, key: string): Loose {
  return Object.fromEntries(Object.entries(from).filter(([one]) => one !== key));
}

/** The same template with another variant; null: without it. The one without a language takes its channel along. */
export function withVariant(body: unknown, channel: Channel, locale: string, variant: Loose | null): TemplateBody {
  const all = group(body);
  const own = group(all[channel]);
  if (locale === BASE) {
    return variant === null ? without(all, channel) : { ...all, [channel]: variant };
  }
  const locales =
    variant === null ? without(group(own['locales']), locale) : { ...group(own['locales']), [locale]: variant };
  const next = Object.keys(locales).length === 0 ? without(own, 'locales') : { ...own, locales };
  return { ...all, [channel]: next };
}

/** The same template with another text for a part; an empty one is left out where it may be. */
export function withPart(
  body: unknown,
  { channel, locale }: { readonly channel: Channel; readonly locale: string },
  part: string,
  text: string,
  isNeeded = false,
): TemplateBody {
  const variant = variantIn(body, channel, locale);
  const next = text === '' && !isNeeded ? without(variant, part) : { ...variant, [part]: text };
  return withVariant(body, channel, locale, next);
}

/** A new language begins as a copy of the one without, since a variant has every part. */
export function withLocale(body: unknown, channel: Channel, locale: string): TemplateBody {
  const base = ['locales', 'strict', 'priority', 'android', 'apns'].reduce(without, variantIn(body, channel, BASE));
  return withVariant(body, channel, locale, base);
}

const AGAIN = 'there is newer text, which is kept.';

/** Puts the source back that a mail had before it was text alone. Throws where it has one again, or its language is gone. */
export function withSource(body: unknown, locale: string, part: 'html' | 'mjml', source: string): TemplateBody {
  const now = variantIn(body, 'email', locale);
  const isThere = locale === BASE || localesIn(body, 'email').includes(locale);
  if (!isThere || now['html'] !== undefined || now['mjml'] !== undefined) throw new Error(AGAIN);
  const rest = now['text'] === '' ? without(now, 'text') : now;
  return withVariant(body, 'email', locale, { ...rest, [part]: source });
}

/** Puts a language back that was removed. Throws where it was added again, or its channel is gone. */
export function withRemoved(body: unknown, channel: Channel, locale: string, variant: Loose): TemplateBody {
  if (!channelsIn(body).includes(channel) || localesIn(body, channel).includes(locale)) throw new Error(AGAIN);
  return withVariant(body, channel, locale, variant);
}

/** A language tag such as de or de-AT. */
export const isLocale = (text: string): boolean => /^[a-z]{2,3}(?:-[A-Z][a-z]{3})?(?:-(?:[A-Z]{2}|\d{3}))?$/.test(text);

const HTML = `<!doctype html>
<html>
  <head><meta name="color-scheme" content="light dark"></head>
  <body style="font-family: sans-serif; line-height: 1.5">
    <p>Hello {{default customer.name "there"}},</p>
    <p>here is what happened.</p>
  </body>
</html>
`;
const MJML = `<mjml>
  <mj-body>
    <mj-section>
      <mj-column>
        <mj-text>Hello {{default customer.name "there"}},</mj-text>
        <mj-text>here is what happened.</mj-text>
      </mj-column>
    </mj-section>
  </mj-body>
</mjml>
`;
const SUBJECT = 'News for {{default customer.name "you"}}';
const FIRST: Readonly<Record<Channel, Loose>> = {
  email: { subject: SUBJECT, html: HTML, strict: false },
  sms: { text: 'Hello {{default customer.name "there"}}, here is what happened.' },
  push: { title: 'News', body: 'Hello {{default customer.name "there"}}, here is what happened.', strict: false },
};
/** A plain, good beginning of a channel. */
export const withChannel = (body: unknown, channel: Channel): TemplateBody =>
  withVariant(body, channel, BASE, FIRST[channel]);

const begun = (parts: Loose): TemplateBody => parts;
export const NEW_TEMPLATES: readonly NewKind<'templates'>[] = [
  {
    id: 'email',
    name: 'Email in HTML',
    what: 'Starts with a simple example. You can paste your own HTML.',
    body: begun({ email: FIRST.email }),
  },
  {
    id: 'mjml',
    name: 'Email in MJML',
    what: 'Compiled into HTML that all mail programs show in the same way.',
    body: begun({ email: { subject: SUBJECT, mjml: MJML, strict: false } }),
  },
  {
    id: 'sms',
    name: 'SMS',
    what: 'A text message. Its segments are counted as you type.',
    body: begun({ sms: FIRST.sms }),
  },
  { id: 'push', name: 'Push', what: 'A notification on a phone or in a browser.', body: begun({ push: FIRST.push }) },
];

export const NEW_LAYOUTS: readonly NewKind<'layouts'>[] = [
  {
    id: 'html',
    name: 'Layout in HTML',
    what: 'Frame for emails that choose it. The body replaces {{{body}}}.',
    body: { html: HTML.replace(/<p>Hello[\s\S]*happened\.<\/p>/, '{{{body}}}') },
  },
  {
    id: 'mjml',
    name: 'Layout in MJML',
    what: 'Frame for emails in MJML.',
    body: { mjml: '<mjml>\n  <mj-body>\n    {{{body}}}\n  </mj-body>\n</mjml>\n' },
  },
];
export const NEW_PARTIALS: readonly NewKind<'partials'>[] = [
  {
    id: 'text',
    name: 'Partial',
    what: 'Text that templates insert with {{> name}}.',
    body: { text: '<p>Kind regards</p>\n' },
  },
];

/** What helps at the caret after two braces. */
export const HELPERS: readonly (readonly [name: string, help: string])[] = [
  ['date', 'A date, formatted for the reader: {{date paid_at time="short"}}'],
  ['number', 'A number, formatted for the reader'],
  ['currency', 'An amount: {{currency total "EUR"}}'],
  ['plural', 'The word that fits a number: {{plural count one="item" other="items"}}'],
  ['default', 'The first value, or the second if the first is missing'],
  ['url', 'The URL if it begins with https, else nothing'],
  ['eq', 'Whether both are equal: {{#if (eq status "paid")}}'],
  ['ne', 'Whether they are not equal'],
  ['lt', 'Whether the first is less: {{#if (lt total 100)}}'],
  ['gt', 'Whether the first is more'],
  ['#if', 'If there is a value'],
  ['#unless', 'If there is none'],
  ['#each', 'Once for each item of a list'],
  ['#with', 'Uses the fields of an object'],
];

/** Where the name at the caret begins, if the caret stands inside {{…}}; null: it does not. */
export function nameAt(before: string): { readonly from: number; readonly isPartial: boolean } | null {
  const open = before.lastIndexOf('{{');
  if (open < 0 || before.indexOf('}}', open) >= 0) return null;
  const tag = before.slice(open);
  const isPartial = /^\{\{\{?~?#?>/.test(tag);
  const typed = (isPartial ? /[\w-]*$/ : /[#\w.[\]]*$/).exec(tag)?.[0] ?? '';
  return { from: before.length - typed.length, isPartial };
}

/** Characters and segments of an SMS in one line, and what made it dear. */
export function smsWords({
  encoding,
  segments,
  units,
  first_outside_gsm: outside,
}: {
  readonly encoding: 'GSM-7' | 'UCS-2';
  readonly segments: number;
  readonly units: number;
  readonly first_outside_gsm: string | null;
}): string {
  const [alone, each] = encoding === 'GSM-7' ? [160, 153] : [70, 67];
  const room = segments <= 1 ? alone : segments * each;
  const why =
    outside === null ? '' : `. “${outside}” makes it UCS-2: ${segments} ${segments === 1 ? 'segment' : 'segments'}`;
  return `${units} / ${room}, ${segments} ${segments === 1 ? 'segment' : 'segments'}, ${encoding}${why}`;
}
