/** What a bounce in plain text says about a message of ours. */
export type PlainBounce = {
  /** False if the message was only delayed. */
  readonly failed: boolean;
  /** The reason, without the text around it. */
  readonly answer: string;
};

/** A mail system whose bounces are sentences and not fields. */
type PlainFormat = {
  /**
   * Pattern of the first sentence of a bounce. It must match near the top, and is never searched in a quoted message.
   */
  readonly opening: RegExp;
  /** What the reason follows. */
  readonly before: RegExp;
  /** Matches the text after the reason, such as the returned message. */
  readonly after: RegExp;
};

const MAX_OPENING = 1_500;
const MAX_TEXT = 20_000;

const FORMATS: readonly PlainFormat[] = [
  // qmail: https://cr.yp.to/proto/qsbmf.txt
  {
    opening: /^Hi\. This is (?:the|an?) [^\n]{1,300}|^I'm afraid I wasn't able to deliver your message\b/m,
    before: /^<[^\s<>]{1,320}>:[ \t]*$/m,
    after: /^--- [^\n]{1,100}|^(?=<[^\s<>]{1,320}>:[ \t]*$)/m,
  },
  // Exim
  {
    opening: /^This message was created automatically by [^\n]{1,200}/m,
    before: /address(?:\(es\)|es)? failed:/,
    after: /^-{3,} ?This is a copy of |^Included is a copy of |^-{10,}/m,
  },
  // Exchange 5.5, 2000 and 2003
  {
    opening:
      /^did not reach the following recipient\(s\):|^Your message did not reach some or all of the intended recipients\./m,
    before:
      /^did not reach the following recipient\(s\):|^The following recipient\(s\) (?:could not|cannot) be reached:/m,
    after: /^-{3,}/m,
  },
  // Exchange 2007 and newer
  {
    opening: /^Delivery has failed to these recipients\b/m,
    before: /^Diagnostic information for administrators:/m,
    after: /^Original message headers:/m,
  },
];

/** Written by mail systems that will try again. */
const DELAYED = /\bhas not (?:yet )?been delivered\b|\bwarning message only\b|\bdelivery (?:is|has been) delayed\b/i;

/** Reads the plain text of a bounce by qmail, Exim or Exchange. Returns null for any other text. */
export function readPlainBounce(text: string): PlainBounce | null {
  const lines = text.slice(0, MAX_TEXT).replaceAll(/\r\n?/g, '\n');
  const format = FORMATS.find(({ opening }) => opening.test(lines.slice(0, MAX_OPENING)));
  if (!format) return null;
  const [before] = format.before.exec(lines) ?? [];
  if (before === undefined) return DELAYED.test(lines.slice(0, MAX_OPENING)) ? { failed: false, answer: '' } : null;
  const rest = lines.slice(lines.indexOf(before) + before.length);
  const end = rest.search(format.after);
  const answer = (end < 0 ? rest : rest.slice(0, end)).replaceAll(/\s+/g, ' ').trim();
  return answer === '' ? null : { failed: !DELAYED.test(lines.slice(0, MAX_OPENING)), answer };
}
