/**
 * Takes out of a text what must never reach a log, a span or a label: addresses of people and secrets. A last line of defence: callers
 * do not put them there, but vendors' error messages do. It rather takes too much than too little.
 */
export function scrub(text: string): string {
  let clean = shortened(text);
  for (const [pattern, replacement] of FIRST_SECRETS) clean = clean.replace(pattern, replacement);
  clean = clean.replace(QUOTED_EMAIL, ADDRESS).replace(EMAIL, (found: string, local: string, at: number) => {
    // of an address or a path with an e-mail address in its query, the part before the query stays
    if (local.startsWith('/') && local.includes('?')) return `${local.slice(0, local.indexOf('?'))}?[query]`;
    const isPackage = !ALPHANUMERIC.test(local) && clean[at + found.length] === '/';
    return isPackage ? found : ADDRESS;
  });
  for (const [pattern, replacement] of SECRETS) clean = clean.replace(pattern, replacement);
  for (const pattern of PHONES) clean = clean.replace(pattern, '[phone]');
  return clean;
}

/**
 * Scrubs text written by others, such as a vendor's error message, which may quote a body. Removes data in it (JSON,
 * markup, quoted prose), and all but its first line.
 */
export function scrubForeign(text: string): string {
  let clean = shortened(text);
  clean = scrub(clean.replace(NOT_JSON, ', the text is not valid JSON'));
  clean = cutOut(clean, /[{[]\s*["'{[]/, /[}\]](?=[^}\]]*$)/, '[json]');
  clean = cutOut(clean, /<[a-z!/?]/i, />(?=[^>]*$)/, '[markup]');
  for (const pattern of QUOTED_PROSE) clean = clean.replace(pattern, '"[text]"');
  const end = clean.search(/[\r\n\u2028\u2029]/);
  return end === -1 ? clean : `${clean.slice(0, end)} [more]`;
}

/** Shortens a text. Only after scrubbing: half an address would no longer be recognised. */
export const cut = (text: string, length: number): string =>
  text.length > length ? `${text.slice(0, length - 1)}…` : text;

/** No message needs more, and the patterns stay cheap. The last word goes too: half an address would not be recognised. */
const LONGEST = 16_384;
const shortened = (text: string): string =>
  text.length > LONGEST ? `${text.slice(0, LONGEST).replace(/\S*$/, '')}…` : text;

const ADDRESS = '[address]';

type Replacement = readonly [RegExp, string];
/** Before e-mail addresses: a password may hold an `@`. */
const FIRST_SECRETS: readonly Replacement[] = [
  [/-----BEGIN [A-Z ]{0,40}-----[^]*?(?:-----END [A-Z ]{0,40}-----|$)/g, '[secret]'],
  [/:\/\/[^\s/?#]*@/g, '://[secret]@'],
];
/** After them: the local part of an address may look like any of these, and half an address would remain. */
const SECRETS: readonly Replacement[] = [
  [/cln_\w+/g, '[key]'],
  [/[?&#][\w.~%[\]-]+=[^\s"'<>]*/g, '?[query]'],
  [/\b(bearer|basic|digest|apikey)(\s+|%20)[\w.~+/=-]{6,}/gi, '$1 [secret]'],
  [/\beyJ[\w-]+\.[\w-]+(?:\.[\w-]*)?/g, '[secret]'],
  [/[\w-]{8,200}:APA91[\w-]+/g, ADDRESS],
  [
    /\b([\w-]{0,40}(?:passw(?:or)?d|pwd|secret|token|api[_-]?key|authorization|credential|signature)[\w-]{0,40}["']?\s{0,4}[=:]\s{0,4})(?:"[^"]*"?|'[^']*'?|[^\s,;}]+)/gi,
    '$1[secret]',
  ],
];

/** Characters of the local part of an address, and `@` in the ways in which it is written in addresses, URLs and JSON. */
const LOCAL = String.raw`[\p{L}\p{N}\p{M}.!#$%&'*+/=?^_\x60{|}~\-]`;
const AT = String.raw`(?:[@＠﹫]|%40|\\u0040)`;
const DOMAIN = String.raw`(?:[\p{L}\p{N}\p{M}.\-]+|\[[^\]\s]+\])`;
/** Begins only where no such character precedes, so that a long word is tried once and not from each of its characters. */
const EMAIL = new RegExp(`(?<!${LOCAL})(${LOCAL}+)${AT}${DOMAIN}`, 'gu');
const QUOTED_EMAIL = new RegExp(`"[^"\\n]{1,100}"${AT}${DOMAIN}`, 'gu');
/** The name of a package (`'@scope/name'`) has no letter before its `@`, and a slash after the scope; it is left. */
const ALPHANUMERIC = /[\p{L}\p{N}]/u;

const PHONES: readonly RegExp[] = [
  // E.164, with the separators people put in it
  /(?:\+|＋|%2B)\s?\(?\d(?:[\s().\-/\u00a0]{0,2}\d){5,16}/gi,
  // international with 00
  /(?<![\w.])00\d{8,15}(?!\w)/g,
  // ten digits as written in North America
  /(?<!\w)\(?\d{3}\)?[\s.-]\s?\d{3}[\s.-]\d{4}(?!\w)/g,
  // E.164 without its plus, as providers write it; may take a time in milliseconds too
  /(?<![\w.-])\d{10,15}(?![\w-])/g,
];

/** Errors of the JSON parser quote the text that could not be parsed. */
const NOT_JSON = /,\s*(?:\.{3})?"[^]*"(?:\.{3})? is not valid JSON/g;
const QUOTED_PROSE: readonly RegExp[] = [
  /"(?:[^"\n]*\s[^"\n]*|[^"\n]{65,})"/g,
  /(?<!\w)'(?:[^'\n]*\s[^'\n]*|[^'\n]{65,})'(?!\w)/g,
  /`(?:[^`\n]*\s[^`\n]*|[^`\n]{65,})`/g,
  /“[^”\n]*”/g,
];

/** Replaces from the first match of `from` to the last match of `to` after it, or to the end if there is none. */
function cutOut(text: string, from: RegExp, to: RegExp, replacement: string): string {
  const start = text.search(from);
  if (start === -1) return text;
  const end = text.slice(start).search(to);
  return text.slice(0, start) + replacement + (end === -1 ? '' : text.slice(start + end + 1));
}
