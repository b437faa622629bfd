const HIDDEN = '•••';

const [FIRST_OF_PHONE, LAST_OF_PHONE, LAST_OF_TOKEN] = [3, 2, 4];
/** Minimum length to show the last characters. For a shorter address they would reveal too much. */
const LONG = 20;
const LONG_PHONE = 8;

const firstOf = (text: string): string => [...text].slice(0, 1).join('');

/**
 * Masks an address so that people can distinguish it but not use it: `b•••@e•••.com`, `+49•••12`, `•••9f3c` for a
 * device. The masked part has a fixed length, so that it does not reveal the length.
 */
export function maskAddress(address: string): string {
  const at = address.lastIndexOf('@');
  if (at > 0) {
    const [local, domain] = [address.slice(0, at), address.slice(at + 1)];
    const dot = domain.lastIndexOf('.');
    const end = dot > 0 ? domain.slice(dot) : '';
    return `${firstOf(local)}${HIDDEN}@${firstOf(domain)}${HIDDEN}${end}`;
  }
  if (/^\+\d/.test(address)) {
    const digits = address.replaceAll(/[^+\d]/g, '');
    return digits.length < LONG_PHONE
      ? `+${HIDDEN}`
      : `${digits.slice(0, FIRST_OF_PHONE)}${HIDDEN}${digits.slice(-LAST_OF_PHONE)}`;
  }
  return address.length < LONG ? HIDDEN : `${HIDDEN}${address.slice(-LAST_OF_TOKEN)}`;
}

const MAIL = /[^\s@<>()[\]{}"'`,;:|]+@[^\s@<>()[\]{}"'`,;:|/?&]*[^\s@<>()[\]{}"'`,;:|/?&.]/gu;
const PHONE = /\+\d(?:[ ().-]{0,2}\d){6,}/g;
/** A random text of this length is neither a word nor one of our ids, so it may be a device token. */
const TOKEN = /[\w:-]{40,}/g;
const RANDOM_DIGITS = 6;
/** Log positions contain an @ too: `carillon.events/0@17`. */
const PLACE = /^carillon\.[a-z-]+\/\d+@\d+$/;

const isRandom = (text: string): boolean => text.replaceAll(/\D/g, '').length >= RANDOM_DIGITS;

const escaped = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);

/** Masks every recognizable address in a text, and every known one regardless of case. */
export function maskText(text: string, known: readonly string[] = []): string {
  let masked = text;
  for (const address of known) {
    if (address === '') continue;
    // Addresses of one or two characters would break up words, so they are masked only as the whole text.
    if (text === address) return maskAddress(address);
    if (address.length > 2) masked = masked.replaceAll(new RegExp(escaped(address), 'giu'), () => maskAddress(address));
  }
  if (masked.includes('@'))
    masked = masked.replaceAll(MAIL, (address) => (PLACE.test(address) ? address : maskAddress(address)));
  if (masked.includes('+')) masked = masked.replaceAll(PHONE, maskAddress);
  return masked.length < 40
    ? masked
    : masked.replaceAll(TOKEN, (token) => (isRandom(token) ? maskAddress(token) : token));
}
