import { isDeadMailbox, providerWords, type Report, type ReportVerdict } from '@carillon/domain';
import type { MailReading } from '@carillon/ports';
import { createHash } from 'node:crypto';
import PostalMime, { type Attachment } from 'postal-mime';
import { readStatusFields, type StatusFields } from './status-fields.ts';

/** Reports are flat; what is nested deeper was made to cost us something. */
const OPTIONS = {
  forceRfc822Attachments: true,
  maxNestingDepth: 20,
  maxHeadersSize: 128 * 1024,
  attachmentEncoding: 'arraybuffer',
} as const;

/**
 * Reads a delivery status notification (RFC 3464) or an abuse report (RFC 5965) that came back to the address of an
 * attempt. `token` is the local part that it came to. It never throws. The report's id is made from what it says, so the
 * same report that is handed over again, with other transport headers, is the same.
 */
export async function readMailReport(raw: Uint8Array, token: string): Promise<MailReading> {
  const email = await PostalMime.parse(raw, OPTIONS).catch(() => null);
  if (email === null) return { kind: 'unreadable' };
  for (const attachment of email.attachments) {
    const read = READERS.get(attachment.mimeType);
    const judged = read?.(readStatusFields(textOf(attachment)));
    if (judged) {
      const eventId = createHash('sha256')
        .update(`${token.toLowerCase()}\0${textOf(attachment)}`)
        .digest('hex');
      return { kind: 'report', report: { ...judged, eventId, token, at: null } };
    }
  }
  return { kind: 'none' };
}

type Judged = Omit<Report, 'eventId' | 'token' | 'at'>;

const READERS: ReadonlyMap<string, (groups: readonly StatusFields[]) => Judged | null> = new Map([
  ['message/delivery-status', judgeStatus],
  ['message/global-delivery-status', judgeStatus],
  ['message/feedback-report', judgeFeedback],
]);

function textOf({ content }: Attachment): string {
  if (typeof content === 'string') return content;
  return Buffer.from(content instanceof Uint8Array ? content : new Uint8Array(content)).toString('utf8');
}

/** limits-and-errors.md 1.1b. An action that is not here changes nothing. */
const ACTIONS: ReadonlyMap<string, ReportVerdict> = new Map([
  ['failed', 'bounced'],
  ['delivered', 'delivered'],
  ['delayed', 'note'],
  ['relayed', 'note'],
  ['expanded', 'note'],
]);
const WORST_FIRST: readonly ReportVerdict[] = ['bounced', 'delivered', 'note'];

/** Our mail has one recipient. Where an alias made several of him, the worst that happened counts. */
function judgeStatus(groups: readonly StatusFields[]): Judged | null {
  const recipients = groups.filter((group) => group.has('action'));
  const verdictOf = (group: StatusFields): ReportVerdict =>
    ACTIONS.get((group.get('action') ?? '').split(/[\s;(]/, 1)[0]?.toLowerCase() ?? '') ?? 'note';
  const verdict = WORST_FIRST.find((each) => recipients.some((group) => verdictOf(group) === each));
  const group = recipients.find((each) => verdictOf(each) === verdict);
  if (!group || !verdict) return null;
  const status = /^[245]\.\d{1,3}\.\d{1,3}/.exec(group.get('status') ?? '')?.[0] ?? '';
  const words = [group.get('action'), status, group.get('diagnostic-code')];
  return {
    source: 'dsn',
    verdict,
    suppress: verdict === 'bounced' && isDeadMailbox(status) ? 'hard_bounce' : null,
    alert: false,
    code: status,
    detail: providerWords(words.filter((word) => word !== undefined && word !== '').join(': ')),
  };
}

/** RFC 5965 7.3: of the types only these two are complaints about the sender. */
const COMPLAINTS: ReadonlySet<string> = new Set(['abuse', 'fraud']);

function judgeFeedback(groups: readonly StatusFields[]): Judged | null {
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
