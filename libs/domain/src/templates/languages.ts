/**
 * Returns the languages for a recipient, best first: `de-AT`, then `de`, then the workspace's language, shortened in
 * the same way. Each once.
 */
export function languagesFor(locale: string, ofWorkspace: string): readonly string[] {
  return [...new Set([...shortened(locale), ...shortened(ofWorkspace)])];
}

/**
 * Returns `zh-Hant-TW`, `zh-Hant`, `zh`. A single letter is removed together with the part after it (RFC 4647, 3.4).
 */
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
