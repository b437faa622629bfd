/** A complete reply of an SMTP server (RFC 5321 4.2), with its enhanced code (RFC 3463) where it carries one. */
export type SmtpReply = {
  readonly code: number;
  /** Such as `5.1.1`. Null if it is missing or its class contradicts the reply code. */
  readonly enhanced: string | null;
  /**
   * Text of the reply without codes, in one line. It may echo addresses, so it only leaves this adapter through
   * `redact.ts`.
   */
  readonly text: string;
};

const LINE = /^(\d{3})(?:[ -]|$)(?:(\d\.\d{1,3}\.\d{1,3})(?:\s|$))?(.*)$/;

/** Parses a reply of one or several lines. Null for invalid text, on which no decision may be based. */
export function parseReply(raw: string): SmtpReply | null {
  const lines = raw.split(/\r?\n/).map((line) => LINE.exec(line.trim()));
  const first = lines[0];
  if (!first) return null;
  const code = Number(first[1]);
  if (code < 200 || code > 599) return null;
  const enhanced = lines.map((line) => line?.[2]).find((found) => found?.startsWith(String(first[1]).charAt(0)));
  const text = lines
    .map((line) => line?.[3]?.trim() ?? '')
    .filter((line) => line !== '')
    .join(' ');
  return { code, enhanced: enhanced ?? null, text };
}

/** How people see it: `550 5.1.1`. */
export const replyCode = (reply: SmtpReply): string =>
  reply.enhanced === null ? String(reply.code) : `${reply.code} ${reply.enhanced}`;
