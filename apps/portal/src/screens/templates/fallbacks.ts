import { BASE, variantIn, type Channel } from './template-parts.ts';

/** A language as people call it, in a sentence and beside the name of a part. */
export const languageName = (locale: string): string => (locale === BASE ? 'Default' : locale);

/** `zh-Hant-TW`, `zh-Hant`, `zh`: what the server looks for, in its order. */
function shortened(locale: string): readonly string[] {
  const parts = locale.split('-');
  return parts.map((_, at) => parts.slice(0, parts.length - at).join('-'));
}

/** The one that its readers would get if it were not there: a wider one, then the workspace's language, then the one without. */
export function fallsBackTo(locale: string, locales: readonly string[], ofWorkspace: string): string {
  const chain = [...shortened(locale), ...shortened(ofWorkspace)];
  return chain.find((one) => one !== locale && locales.includes(one)) ?? BASE;
}

/** For whom a variant counts, and what counts where there is none, in a sentence. */
export function fallbackWords(locale: string, locales: readonly string[], ofWorkspace: string): string {
  if (locale === BASE) {
    return locales.length === 0
      ? 'For all readers. You can add languages.'
      : 'For readers whose language is not here, unless the language of the workspace is.';
  }
  const isOfWorkspace = shortened(ofWorkspace).find((one) => locales.includes(one)) === locale;
  const others = isOfWorkspace
    ? ', and of languages that are not here, because it is the language of the workspace'
    : '';
  const next = fallsBackTo(locale, locales, ofWorkspace);
  const there = next === BASE ? 'Default' : next;
  return `For readers of ${locale}${others}. Without it they would get ${there}.`;
}

/** What stands in for a part of a language, in a sentence. */
export type PartFallback = {
  readonly words: string;
  /** It keeps the language from being published. */
  readonly isFault: boolean;
};

/** HTML is written as HTML or as MJML: both are one part. */
const textIn = (variant: Readonly<Record<string, unknown>>, part: string): unknown =>
  part === 'html' || part === 'mjml' ? (variant['mjml'] ?? variant['html']) : variant[part];
const isThere = (value: unknown): boolean => value !== undefined && value !== '';

/** What a reader of a language gets for one of its parts where that is not words of its own; null: it has its own, or there is none. */
export function partFallback(body: unknown, channel: Channel, locale: string, part: string): PartFallback | null {
  if (locale === BASE) return null;
  const [own, base] = [variantIn(body, channel, locale), variantIn(body, channel, BASE)];
  const [ownText, baseText] = [textIn(own, part), textIn(base, part)];
  const said = (words: string): PartFallback => ({ words, isFault: false });
  if (part === 'layout') {
    if (isThere(ownText)) return null;
    return said(isThere(baseText) ? `Uses ${String(baseText)}, the layout of Default.` : 'None, as in Default.');
  }
  if (isThere(ownText)) {
    if (ownText === baseText) return said('Not translated yet: same text as Default.');
    return isThere(baseText) ? null : said('Only in this language: Default has none.');
  }
  if (isThere(baseText)) {
    const words = `Missing in ${locale}, and a message never mixes languages. Write it, or remove it from Default.`;
    return { words, isFault: true };
  }
  return part === 'text' && channel === 'email' ? said(`Made from the HTML in ${locale}.`) : null;
}

/** What is no words belongs to the one without a language alone: it counts in every language. */
export function settingsFallback(body: unknown, channel: Channel, locale: string): string | null {
  if (locale === BASE) return null;
  const base = variantIn(body, channel, BASE);
  const gap =
    base['strict'] === true ? 'a message with a missing variable is not sent' : 'a missing variable is left empty';
  const settings = channel === 'push' ? 'Priority, Android and Apple settings as in Default, and' : 'As in Default,';
  return `${settings} ${gap}.`;
}

/** On which other channels a language has no variant, in a sentence; null: on none. */
export function channelsWithout(
  body: unknown,
  locale: string,
  channels: readonly { readonly id: Channel; readonly name: string }[],
): string | null {
  if (locale === BASE) return null;
  const lacking = channels.filter(({ id }) => Object.keys(variantIn(body, id, locale)).length === 0);
  if (lacking.length === 0) return null;
  return `${lacking.map(({ name }) => name).join(' and ')} ${lacking.length === 1 ? 'has' : 'have'} no ${locale}.`;
}
