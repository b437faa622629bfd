const HIDDEN = '•••';

const [FIRST_OF_PHONE, LAST_OF_PHONE, LAST_OF_TOKEN] = [3, 2, 4];
/** A shorter address is hidden whole: its last characters would be a good part of it. */
const LONG = 20;
const LONG_PHONE = 8;

const firstOf = (text: string): string => [...text].slice(0, 1).join('');

/**
 * An address that tells people apart on a screen and reaches nobody: `b•••@e•••.com`, `+49•••12`, `•••9f3c` of a device. Always of the same
 * length between what is shown, so that it says nothing of the length of the address.
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
/** What is as long as this and random is no word and no id of ours: a token of a device is one. */
const TOKEN = /[\w:-]{40,}/g;
const RANDOM_DIGITS = 6;
/** A place on the log is written with an @ too: `carillon.events/0@17`. */
const PLACE = /^carillon\.[a-z-]+\/\d+@\d+$/;

const isRandom = (text: string): boolean => text.replaceAll(/\D/g, '').length >= RANDOM_DIGITS;

const escaped = (text: string): string => text.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);

/** A text with each address masked that can be told from other words, and with each of those that are known to be ones, in any case. */
export function maskText(text: string, known: readonly string[] = []): string {
  let masked = text;
  for (const address of known) {
    if (address === '') continue;
    // An address of one or two characters would take words apart: it is masked only where it is the whole text.
    if (text === address) return maskAddress(address);
    if (address.length > 2) masked = masked.replaceAll(new RegExp(escaped(address), 'giu'), () => maskAddress(address));
  }
  if (masked.includes('@')) masked = masked.replaceAll(MAIL, (one) => (PLACE.test(one) ? one : maskAddress(one)));
  if (masked.includes('+')) masked = masked.replaceAll(PHONE, maskAddress);
  return masked.length < 40 ? masked : masked.replaceAll(TOKEN, (one) => (isRandom(one) ? maskAddress(one) : one));
}
