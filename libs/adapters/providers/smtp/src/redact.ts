const MAX_DETAIL = 300;
/** More of a reply than this is not read; the rest could only be cut off again. */
const MAX_READ = 2000;
const MIN_CONTENT = 8;

/** Matches a character that every spelling of an address contains. */
const IN_ADDRESSES = /[@=]|%40/;
const ADDRESS = /<?(?:"[^"]*"|[^\s<>"'(),;:=]+)(?:@|%40)[^\s<>"'(),;]+>?/gi;
const URL = /https?:\/\/[^\s"'<>()]+/g;

const escapePattern = (text: string): string => text.replaceAll(/[\\^$.*+?()[\]{}|/]/g, String.raw`\$&`);

/** What must not be seen in the text of a server's reply. */
export type Hidden = {
  readonly address: string;
  readonly credentials: readonly string[];
  /** Subject and bodies: some filters quote what they disliked. */
  readonly content: readonly string[];
};

/**
 * Returns one line without control characters. A cut never leaves a partial word, which could be part of an address.
 */
function oneLine(text: string): string {
  const line = text.replaceAll(/[\p{C}\s]+/gu, ' ').trim();
  return line.length > MAX_READ ? line.slice(0, MAX_READ).replace(/\S+$/, '') : line;
}

function withoutContent(line: string, content: readonly string[]): string {
  let plain = line;
  for (const piece of new Set(content.flatMap((each) => [...each.split(/[\r\n]+/), ...(each.match(URL) ?? [])]))) {
    const trimmed = piece.trim();
    if (trimmed.length >= MIN_CONTENT) plain = plain.replaceAll(trimmed, '<content>');
  }
  return plain;
}

/** The address as people and programs write it. In the sender of a bounce its `@` is `=`, and that of the bounce follows. */
function spellingsOf(address: string): RegExp {
  const own = escapePattern(address).replace('@', '(?:@|%40|=)');
  const bounce = String.raw`(?:(?:@|%40)[^\s<>"'(),;]+)?`;
  return new RegExp(String.raw`(?<![\p{L}\p{N}])<?${own}${bounce}>?(?![\p{L}\p{N}])`, 'giu');
}

function withoutAddresses(line: string, own: string): string {
  // The pattern of an address takes longer to compile than the mail to send, and most servers repeat none.
  if (!IN_ADDRESSES.test(line)) return line;
  const plain = own === '' ? line : line.replaceAll(spellingsOf(own), '<address>');
  return plain.replaceAll(ADDRESS, '<address>');
}

/**
 * Returns a reply for logs, timelines and people: one short line without addresses (servers like to repeat the
 * recipient's), credentials and words of the message. Only whole addresses are removed, because a local part may be an
 * ordinary word such as `spam`.
 */
export function redact(text: string, hidden: Partial<Hidden> = {}): string {
  let plain = oneLine(text);
  for (const credential of hidden.credentials ?? []) {
    if (credential === '') continue;
    plain = plain.replaceAll(credential, '<credential>');
    plain = plain.replaceAll(Buffer.from(credential).toString('base64'), '<credential>');
  }
  plain = withoutAddresses(withoutContent(plain, hidden.content ?? []), hidden.address ?? '');
  return plain.length > MAX_DETAIL ? `${plain.slice(0, MAX_DETAIL - 1)}…` : plain;
}
