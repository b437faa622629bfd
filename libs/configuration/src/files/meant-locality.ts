import { isLocale, similarTo } from '@carillon/kernel';

/** The time zone that was probably meant: a city alone, or a slip of the pen. Null where none is near. */
export function meantZone(found: string): string | null {
  const zones = Intl.supportedValuesOf('timeZone');
  const place = found.trim().replaceAll(' ', '_').toLowerCase();
  const inPlace = zones.find((zone) => zone.toLowerCase().split('/').at(-1) === place.split('/').at(-1));
  return inPlace ?? similarTo(found, zones);
}

/** The language tag that was probably meant: `de_DE` and `de_DE.UTF-8` are de-DE, `German` is de. Null where none is near. */
export function meantLocale(found: string): string | null {
  const [tag = ''] = found.trim().replaceAll('_', '-').split('.');
  if (tag !== '' && isLocale(tag)) return Intl.getCanonicalLocales(tag)[0] ?? null;
  const names = new Intl.DisplayNames('en', { type: 'language', fallback: 'none' });
  const letters = 'abcdefghijklmnopqrstuvwxyz'.split('');
  const codes = letters.flatMap((first) => letters.map((second) => first + second));
  return codes.find((code) => names.of(code)?.toLowerCase() === tag.toLowerCase() && isLocale(code)) ?? null;
}
