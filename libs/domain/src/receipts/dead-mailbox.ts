/** Facts about a message that a mail server refused, from its reply, a report or a webhook. */
export type MailRefusal = {
  /** The answer of the recipient's server with its codes, such as `550 5.1.1 User unknown`. Empty if it is not known. */
  readonly answer: string;
  /** The RFC 3463 code that the reporting server or vendor assigned. Empty if it gave none. */
  readonly status: string;
  /** True if the reporter classified the refusal as a mailbox that does not exist. */
  readonly reportedDead?: boolean;
};

/** Row of the table: every condition that it has must match. */
type DeadMailboxRow = {
  readonly statuses?: readonly string[];
  readonly words?: RegExp;
};

/** Characters of an answer that are read. An answer about a dead mailbox is shorter. */
const MAX_ANSWER = 2_000;

const OWNER = '(?:user|recipient|mailbox|mail box|account|addressee|local[ -]part|customer)';
const HOLDER = `${OWNER}(?: name| id| address)?(?: @| [\\w.'"+-]{1,64})?`;
const MISSING =
  "(?:unknown|not known|not found|not exist(?:s|ing|ent)?|non-?exist[ae]nt|doesn't exist|can(?:not| ?not|'t) be found|could not be found|no longer exists?|not present|not recogni[sz]ed)";

/**
 * Sentences that say that a mailbox does not exist, gathered from public collections of bounces. They are matched in lower
 * case, with `@` for each address.
 */
const NO_SUCH_MAILBOX = new RegExp(
  [
    `\\b${HOLDER} (?:is |was |does |do |did |has |that you tried to reach )*${MISSING}\\b`,
    `@:?[. ]{0,4} ?(?:is |was |does )?${MISSING}\\b`,
    `\\b(?:no such|unknown|non-?exist[ae]nt) (?:local |virtual |e-?mail |relay )?(?:${OWNER}|address|person)\\b`,
    `\\b(?:invalid|bad) (?:local |virtual )?(?:user|recipient|mailbox)\\b`,
    `\\bno (?:mailbox|mail box|account|user|person|one) (?:here )?(?:by|with|of|at) (?:that|this|the)\\b`,
    `\\bno (?:mailbox|account|user|recipient) (?:record )?found\\b`,
    `\\b(?:not a|isn't a|no) (?:valid|known) (?:user|mailbox|recipient|account)\\b`,
    `\\baddress (?:does not|doesn't) exist\\b|\\baddress(?: was| is|:)? (?:unknown|not found in|not present in)\\b`,
    `\\be-?mail address (?:@ )?(?:was not found|could not be found|not found)\\b`,
    `\\buser doesn't have an? \\S{1,64} account\\b`,
    `\\bbad destination mailbox address\\b`,
    `\\brecip(?:ient)?notfound\\b`,
    `\\buser is terminated\\b`,
    // Outlook.com.
    `\\bmailbox unavailable \\(s2017062302\\)`,
    `\\b(?:not listed|no match|matches no) in .{0,40}(?:address book|directory)\\b`,
    // French, German, Spanish, Italian.
    `\\b(?:utilisateur|destinataire) inconnu\\b`,
    `\\b(?:empfänger|benutzer) unbekannt\\b|\\bunbekannter (?:empfänger|benutzer)\\b`,
    `\\busuario (?:desconocido|inexistente|no existe)\\b|\\bno existe (?:ese usuario|dicha persona)\\b`,
    `\\butente sconosciuto\\b|\\bnessun utente\\b`,
  ].join('|'),
);

/** Sentences that say that a mailbox was closed. Without the code 5.2.1 they may be about anything. */
const CLOSED_MAILBOX =
  /\b(?:disabled|deactivated|inactive|closed|terminated|discontinued|no longer (?:active|available|in use|valid))\b/;

/**
 * Refusals that mean that the mailbox does not exist. All others mean that it cannot be reached now, or not by this sender. The
 * table is data because servers and vendors use RFC 3463 codes freely. A 5.1.x code suffices; 5.2.1 (mailbox disabled) also needs words.
 */
const DEAD_MAILBOX_TABLE: readonly DeadMailboxRow[] = [
  { statuses: ['5.1.1', '5.1.2', '5.1.6', '5.1.10'] },
  { statuses: ['5.2.1'], words: CLOSED_MAILBOX },
  { words: NO_SUCH_MAILBOX },
];

/** Codes about the sender (RFC 3463 3.2). */
const ABOUT_SENDER: readonly string[] = ['5.1.7', '5.1.8'];

/** Words about the sender, the traffic or the content. They override any code, because the mailbox may exist. */
const ABOUT_SOMETHING_ELSE = new RegExp(
  [
    String.raw`\brates?\b|\btoo (?:many|much|fast|quickly|often|frequent)|throttl|\blimit`,
    String.raw`quota|\bfull\b|exceed|\bstorage\b|\bspace\b`,
    String.raw`block|black ?-?list|deny ?-?list|\bdenied\b|\bbanned\b|polic(?:y|ies)\b|\bprohibit|\brestrict|preference`,
    String.raw`\bspam|\bjunk\b|\bvirus|malware|reputation|spamhaus|\b(?:rbl|dnsbl)\b|\bip\b`,
    String.raw`gr[ae]y ?-?list|temporar|\blater\b|suspend`,
    String.raw`\brelay(?:ing)? (?:access )?(?:denied|not|is)\b|\bunable to relay\b|\bnot (?:allowed|permitted|authori[sz]ed)\b`,
    String.raw`unauthori[sz]ed|authenticat|\b(?:dmarc|dkim|spf)\b|\bsender|\bmail from\b`,
  ].join('|'),
);

const URL = /\bhttps?:\/\/\S+/g;
const ADDRESS = /<?[^\s<>@]{1,320}@[^\s<>@]{1,320}>?/g;
/** The server name in answers of Postfix and Exim: `host mx.example.net[192.0.2.7]`. Names of block lists have no IP address. */
const HOST = /(?<![\w.-])[\w.-]{1,253} ?\[[\d.a-f:]{3,45}\]/g;

/**
 * Returns an answer in lower case on one line. Addresses, links and the name of the server are removed, because they may
 * contain any word.
 */
const wordsOf = (answer: string): string =>
  answer
    .slice(0, MAX_ANSWER)
    .toLowerCase()
    .replaceAll(URL, ' ')
    .replaceAll(ADDRESS, ' @ ')
    .replaceAll(HOST, ' ')
    .replaceAll(/\s+/g, ' ');

const CODES = /(?<![\d.\w])([45])\d\d[ -]+#?([45]\.\d{1,3}\.\d{1,3})(?![\d.]*\d)/;
const STATUS = /(?<![\d.\w])([45]\.\d{1,3}\.\d{1,3})(?![\d.]*\d)/;
const REPLY = /(?:^|[\s;:>])([45]\d\d)(?=[\s-]|$)/;

/** Returns the RFC 3463 code in an answer, such as `5.1.1`. Prefers a code that follows a reply code. Empty if there is none. */
export function statusIn(answer: string): string {
  const text = answer.slice(0, MAX_ANSWER);
  return CODES.exec(text)?.[2] ?? STATUS.exec(text)?.[1] ?? '';
}

const isPermanent = (answer: string, status: string): boolean =>
  status === '' ? !(REPLY.exec(answer.slice(0, MAX_ANSWER))?.[1]?.startsWith('4') ?? false) : status.startsWith('5');

/** Returns true for a code that reports a permanent failure without a cause, and for an empty code. */
const isUnspecific = (status: string): boolean => status === '' || /^5\.\d{1,3}\.0$/.test(status);

/**
 * Returns true if a refusal says that the mailbox does not exist, so that its address is suppressed. This one table reads SMTP
 * replies, reports by mail and webhooks. The answer of the recipient's server counts more than the code of its reporter.
 */
export function isDeadMailbox({ answer, status, reportedDead = false }: MailRefusal): boolean {
  const words = wordsOf(answer);
  const code = statusIn(answer) || statusIn(status);
  if (!isPermanent(answer, code) || ABOUT_SENDER.includes(code) || ABOUT_SOMETHING_ELSE.test(words)) return false;
  if (reportedDead && isUnspecific(code)) return true;
  return DEAD_MAILBOX_TABLE.some(
    (row) => (row.statuses?.includes(code) ?? true) && (row.words === undefined || row.words.test(words)),
  );
}
