import { CONTROL } from '@carillon/kernel';
import { unicodeLabel } from './punycode.ts';

/** A local part has 64 octets at most and a domain 255 (RFC 5321); with the sign between them that is all. */
const LONGEST = 320;

/** Matches most addresses. A matching address is already canonical and needs no further checks. */
const USUAL = /^[a-z0-9_][a-z0-9._+-]*@(?:[a-z0-9](?:[a-z0-9-]*[a-z0-9])?\.)+[a-z](?:[a-z0-9-]*[a-z0-9])?$/;

/**
 * Characters that a local part must not have: those that need quotes, invisible ones, U+FFFD, and `%` and `!`, which
 * some servers treat as a route to another domain.
 */
const FORBIDDEN_LOCAL = /[\ufffd\p{C}\p{Z}"(),:;<>@[\\\]%!]/u;
const LABEL = /^[a-z0-9_](?:[a-z0-9_-]*[a-z0-9_])?$/;
const SOFT_HYPHEN = /\u00ad/g;

/**
 * Returns the canonical email address: domain in ASCII (IDNA), lower case, no trailing dot, compatibility forms such as
 * full-width characters as plain ones, no soft hyphens. Null if the text is no sendable address: a domain without a dot
 * or with numbers only, an address literal, a local part in quotes or with `%` or `!`, one that begins with `|`, or
 * `mailto:`.
 */
export function canonicalEmail(text: string): string | null {
  if (text.length > LONGEST) return null;
  if (USUAL.test(text)) return isShort(text) ? text : null;
  // First, since compatibility forms of `@` and `%` count as these.
  const plain = text.trim().normalize('NFKC');
  const at = plain.lastIndexOf('@');
  if (at < 1 || CONTROL.test(plain)) return null;
  const local = canonicalLocal(plain.slice(0, at));
  const domain = canonicalDomain(plain.slice(at + 1));
  if (local === null || domain === null) return null;
  const address = `${local}@${domain}`;
  return address.length > LONGEST ? null : address;
}

function canonicalLocal(text: string): string | null {
  const local = text.replace(SOFT_HYPHEN, '').toLowerCase().normalize('NFKC');
  return local === '' || local.startsWith('|') || FORBIDDEN_LOCAL.test(local) ? null : local;
}

function canonicalDomain(text: string): string | null {
  // Names outside ASCII are mapped by the host parser of URLs, which implements IDNA. ASCII names only get there if all
  // their characters are allowed.
  if (text === '' || /(?![\w.-])[\0-\x7f]/.test(text)) return null;
  let host: string;
  try {
    host = new URL(`http://${text}/`).hostname;
  } catch {
    return null;
  }
  const domain = host.endsWith('.') ? host.slice(0, -1) : host;
  const labels = domain.split('.');
  if (labels.length < 2 || domain.length > 253 || /^\d+$/.test(labels.at(-1) ?? '')) return null;
  return labels.every((label) => label.length <= 63 && LABEL.test(label)) ? domain : null;
}

const isShort = (address: string): boolean => {
  const domain = address.slice(address.indexOf('@') + 1);
  return domain.length <= 253 && domain.split('.').every((label) => label.length <= 63);
};

/** With a last dot, and with the domain in Unicode: lists were kept by the address in lower case alone once. */
export function olderEmails(canonical: string): readonly string[] {
  const at = canonical.lastIndexOf('@') + 1;
  const domain = canonical.slice(at);
  const forms = [`${canonical}.`];
  if (!domain.includes('xn--')) return forms;
  const labels = domain.split('.').map((label) => (label.startsWith('xn--') ? unicodeLabel(label.slice(4)) : label));
  return [...forms, `${canonical.slice(0, at)}${labels.join('.')}`, `${canonical.slice(0, at)}${labels.join('.')}.`];
}
