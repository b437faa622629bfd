import PostalMime, { type Email } from 'postal-mime';

/** A message as a reader of mail sees it. */
export type ParsedMail = {
  readonly messageId: string | null;
  readonly subject: string;
  readonly from: { readonly name: string; readonly address: string };
  readonly to: readonly { readonly name: string; readonly address: string }[];
  /** Line ends are LF; the one that closes the last line is left out. */
  readonly text: string | null;
  readonly html: string | null;
  /** Names in lower case, as often as they stand there. */
  readonly headers: readonly { readonly key: string; readonly value: string }[];
};

const body = (text: string | undefined): string | null =>
  text === undefined ? null : text.replaceAll('\r\n', '\n').replace(/\n$/, '');

const mailboxes = (addresses: Email['to']): ParsedMail['to'] =>
  (addresses ?? [])
    .flatMap((each) => ('group' in each && each.group ? each.group : [each]))
    .map((each) => ({
      name: each.name,
      address: each.address ?? '',
    }));

/** Reads MIME with a parser that shares no code with what the product sends with. */
export async function parseMail(raw: Uint8Array | string): Promise<ParsedMail> {
  const email = await PostalMime.parse(raw);
  return {
    messageId: email.messageId ?? null,
    subject: email.subject ?? '',
    from: { name: email.from?.name ?? '', address: email.from?.address ?? '' },
    to: mailboxes(email.to),
    text: body(email.text),
    html: body(email.html),
    headers: email.headers.map(({ key, value }) => ({ key, value })),
  };
}
