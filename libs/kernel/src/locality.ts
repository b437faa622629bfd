/** Where and in which language something is read: the time zone and the language tag by which `Intl` shows values. */
export type Locality = { readonly locale: string; readonly timeZone: string };

/** Locality used if none is configured. */
export const DEFAULT_LOCALITY: Locality = { locale: 'en', timeZone: 'UTC' };

/** Asking `Intl` takes 5 to 50 µs, so the answers are kept: so many, because tenants choose the names. */
const REMEMBERED = 1000;

function remembered(longest: number, ask: (name: string) => unknown): (name: string) => boolean {
  const answers = new Map<string, boolean>();
  const judge = (name: string): boolean => {
    try {
      return ask(name) !== undefined;
    } catch {
      return false;
    }
  };
  return (name) => {
    if (name.length > longest) return false;
    const known = answers.get(name);
    if (known !== undefined) return known;
    const answer = judge(name);
    if (answers.size >= REMEMBERED) answers.clear();
    answers.set(name, answer);
    return answer;
  };
}

/** Whether a text of at most 64 characters names a time zone, such as `Europe/Berlin`. Never throws. */
export const isTimeZone = remembered(64, (name) => new Intl.DateTimeFormat('en', { timeZone: name }));

/**
 * Whether a text of at most 35 characters is the tag of a language that values can be shown in, such as `en` or `de-AT`.
 * The tag of an unknown language is none: `Intl` would take the language of the machine for it. Never throws.
 */
export const isLocale = remembered(35, (tag) => Intl.DateTimeFormat.supportedLocalesOf(tag)[0]);
