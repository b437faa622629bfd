/** What is known about a message that a mail server refused: its reply, a report or a webhook. */
export type MailRefusal = {
  /** The answer of the recipient's server with its codes, such as `550 5.1.1 User unknown`. Empty if it is not known. */
  readonly answer: string;
  /** The code (RFC 3463) by the server or vendor that reports the answer. Empty if it gave none. */
  readonly status: string;
  /** The reporter has a class of its own for mailboxes that do not exist, and put this refusal into it. */
  readonly reportedDead?: boolean;
};

/** Row of the table: every condition that it has must match. */
type DeadMailboxRow = {
  readonly statuses?: readonly string[];
  readonly words?: RegExp;
};

/** Longer answers are cut: nobody writes more to say that a mailbox does not exist. */
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
 * What tells a mailbox that does not exist from one that cannot be reached now, or by us. Data, not code: mail servers and
 * vendors use the codes of RFC 3463 as they like. The codes 5.1.x say it alone; 5.2.1 (a mailbox that takes no mail) does not.
 */
const DEAD_MAILBOX_TABLE: readonly DeadMailboxRow[] = [
  { statuses: ['5.1.1', '5.1.2', '5.1.6', '5.1.10'] },
  { statuses: ['5.2.1'], words: CLOSED_MAILBOX },
  { words: NO_SUCH_MAILBOX },
];

/** Codes about the sender (RFC 3463 3.2). */
const ABOUT_SENDER: readonly string[] = ['5.1.7', '5.1.8'];

/** Words of answers about the sender, the traffic or the content. They count more than any code: the mailbox may be alive. */
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
/** The server that Postfix and Exim quote: `host mx.example.net[192.0.2.7]`. Names of lists in an answer have no such number. */
const HOST = /(?<![\w.-])[\w.-]{1,253} ?\[[\d.a-f:]{3,45}\]/g;

/**
 * The sentences of an answer, in lower case and on one line. Addresses, links and the name of the server may hold any word, so
 * they are taken out.
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

/** The code of RFC 3463 that an answer holds, such as `5.1.1`; one behind a reply code comes first. Empty if there is none. */
export function statusIn(answer: string): string {
  const text = answer.slice(0, MAX_ANSWER);
  return CODES.exec(text)?.[2] ?? STATUS.exec(text)?.[1] ?? '';
}

const isPermanent = (answer: string, status: string): boolean =>
  status === '' ? !(REPLY.exec(answer.slice(0, MAX_ANSWER))?.[1]?.startsWith('4') ?? false) : status.startsWith('5');

/** A code that says no more than that something failed for good. */
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
