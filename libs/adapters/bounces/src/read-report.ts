import {
  isDeadMailbox,
  providerWords,
  statusIn,
  type MailRefusal,
  type Report,
  type ReportVerdict,
} from '@carillon/domain/receipts';
import type { MailReading } from '@carillon/ports';
import { createHash } from 'node:crypto';
import PostalMime, { type Attachment } from 'postal-mime';
import { readPlainBounce, type PlainBounce } from './plain-bounce.ts';
import { readStatusFields, type StatusFields } from './status-fields.ts';

/** Reports are flat; what is nested deeper was made to cost us something. */
const OPTIONS = {
  forceRfc822Attachments: true,
  maxNestingDepth: 20,
  maxHeadersSize: 128 * 1024,
  attachmentEncoding: 'arraybuffer',
} as const;

/**
 * Reads a mail that came back to the address of an attempt: a delivery status notification (RFC 3464), an abuse report
 * (RFC 5965), or a bounce in plain text. `token` is the local part that the mail came to. Never throws. The report's id is a
 * hash of what the report says, so a report that comes again with other transport headers has the same id.
 */
export async function readMailReport(raw: Uint8Array, token: string): Promise<MailReading> {
  const email = await PostalMime.parse(raw, OPTIONS).catch(() => null);
  if (email === null) return { kind: 'unreadable' };
  const report = (judged: ClassifiedReport, text: string): MailReading => {
    const eventId = createHash('sha256').update(`${token.toLowerCase()}\0${text}`).digest('hex');
    return { kind: 'report', report: { ...judged, eventId, token, at: null } };
  };
  for (const attachment of email.attachments) {
    const judged = READERS.get(attachment.mimeType)?.(readStatusFields(textOf(attachment)));
    if (judged) return report(judged, textOf(attachment));
  }
  const bounce = readPlainBounce(email.text ?? '');
  return bounce === null ? { kind: 'none' } : report(classifyPlain(bounce), bounce.answer);
}

type ClassifiedReport = Omit<Report, 'eventId' | 'token' | 'at'>;

const READERS: ReadonlyMap<string, (groups: readonly StatusFields[]) => ClassifiedReport | null> = new Map([
  ['message/delivery-status', classifyStatus],
  ['message/global-delivery-status', classifyStatus],
  ['message/feedback-report', classifyFeedback],
]);

function textOf({ content }: Attachment): string {
  if (typeof content === 'string') return content;
  return Buffer.from(content instanceof Uint8Array ? content : new Uint8Array(content)).toString('utf8');
}

/** Actions of RFC 3464, and how mail servers spell them. An action that is not here changes nothing. */
const ACTIONS: ReadonlyMap<string, ReportVerdict> = new Map([
  ['failed', 'bounced'],
  ['failure', 'bounced'],
  ['expired', 'bounced'],
  ['delivered', 'delivered'],
  ['delayed', 'note'],
  ['relayed', 'note'],
  ['expanded', 'note'],
]);
const WORST_FIRST: readonly ReportVerdict[] = ['bounced', 'delivered', 'note'];

/**
 * Our mail has one recipient. If an alias made several of it, the worst result counts, and the address is suppressed only if
 * none of their mailboxes exists: the alias itself may be alive.
 */
function classifyStatus(groups: readonly StatusFields[]): ClassifiedReport | null {
  const recipients = groups.filter((group) => group.has('action'));
  const verdictOf = (group: StatusFields): ReportVerdict =>
    ACTIONS.get((group.get('action') ?? '').split(/[\s;(]/, 1)[0]?.toLowerCase() ?? '') ?? 'note';
  const verdict = WORST_FIRST.find((each) => recipients.some((group) => verdictOf(group) === each));
  const group = recipients.find((each) => verdictOf(each) === verdict);
  if (!group || !verdict) return null;
  const dead = recipients.every((each) => verdictOf(each) === 'bounced' && isDeadMailbox(refusalOf(each)));
  const { answer, status } = refusalOf(group);
  const words = [group.get('action'), status, group.get('diagnostic-code')];
  return {
    source: 'dsn',
    verdict,
    suppress: dead ? 'hard_bounce' : null,
    alert: false,
    code: statusIn(answer) || status,
    detail: providerWords(words.filter((word) => word !== undefined && word !== '').join(': ')),
  };
}

const refusalOf = (group: StatusFields): MailRefusal => ({
  answer: group.get('diagnostic-code') ?? '',
  status: /^[245]\.\d{1,3}\.\d{1,3}/.exec(group.get('status') ?? '')?.[0] ?? '',
});

function classifyPlain({ failed, answer }: PlainBounce): ClassifiedReport {
  const status = statusIn(answer);
  return {
    source: 'dsn',
    verdict: failed ? 'bounced' : 'note',
    suppress: failed && isDeadMailbox({ answer, status }) ? 'hard_bounce' : null,
    alert: false,
    code: status,
    detail: providerWords(answer === '' ? 'delayed' : `${failed ? 'failed' : 'delayed'}: ${answer}`),
  };
}

/** RFC 5965 7.3: of the types only these two are complaints about the sender. */
const COMPLAINTS: ReadonlySet<string> = new Set(['abuse', 'fraud']);

function classifyFeedback(groups: readonly StatusFields[]): ClassifiedReport | null {
  const type = groups
    .find((group) => group.has('feedback-type'))
    ?.get('feedback-type')
    ?.toLowerCase();
  if (type === undefined) return null;
  const complained = COMPLAINTS.has(type);
  return {
    source: 'arf',
    verdict: complained ? 'complained' : 'note',
    suppress: complained ? 'complaint' : null,
    alert: false,
    code: providerWords(type),
    detail: providerWords(`feedback: ${type}`),
  };
}
