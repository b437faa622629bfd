/**
 * The languages in which somebody may be written to, best first: `de-AT`, then `de`; after that the workspace's, shortened
 * in the same way. Each once.
 */
export function languagesFor(locale: string, ofWorkspace: string): readonly string[] {
  return [...new Set([...shortened(locale), ...shortened(ofWorkspace)])];
}

/** `zh-Hant-TW`, `zh-Hant`, `zh`. What stands behind a single letter goes with it (RFC 4647, 3.4). */
function shortened(locale: string): readonly string[] {
  const parts = canonicalLocale(locale).split('-');
  const tags: string[] = [];
  while (parts.length > 0) {
    tags.push(parts.join('-'));
    parts.pop();
    if (parts.at(-1)?.length === 1) parts.pop();
  }
  return tags;
}

/** Returns the canonical form of a language tag, such as `de-AT` for `de-at`. Invalid tags stay unchanged. */
export function canonicalLocale(locale: string): string {
  try {
    return Intl.getCanonicalLocales(locale)[0] ?? locale;
  } catch {
    return locale;
  }
}
