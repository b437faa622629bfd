import type { Dice } from '../dice.ts';
import { mostly } from './requests.ts';
import { BROKEN_BYTES, bytesOf, hostileText, mutateText } from './texts.ts';

const LINE = '\r\n';
const words = (dice: Dice, good: string, share = 0.1): string =>
  mostly(dice, good, [bytesOf(hostileText(dice))], share);

/** Addresses that belong to nobody here. `{forged}` is a token of ours with another last character. */
const FOREIGN = [
  'postmaster@bounces.test',
  '{forged}@bounces.test',
  'ann@example.com',
  '@relay.test:ann@example.com',
  '"{forged}"@bounces.test',
  '',
  'x'.repeat(2_000),
];

/** What a mail server says that gave up on a recipient (RFC 3464), or what a provider says of a complaint (RFC 5965). */
function reportFields(dice: Dice): readonly string[] {
  if (dice.chance(0.25))
    return [`Feedback-Type: ${words(dice, dice.pick(['abuse', 'fraud', 'not-spam']))}`, 'Version: 1'];
  return [
    'Reporting-MTA: dns; relay.test',
    '',
    `Final-Recipient: rfc822; ${words(dice, 'ann@example.org')}`,
    `Action: ${words(dice, dice.pick(['failed', 'delayed', 'delivered', 'relayed', 'expanded', 'failed (expired)']))}`,
    `Status: ${words(dice, dice.pick(['5.1.1', '5.2.2', '4.4.7', '2.0.0', '5.999.99999']))}`,
    `Diagnostic-Code: ${words(dice, 'smtp; 550 5.1.1 no such user')}`,
  ];
}

function report(dice: Dice): string {
  const fields = reportFields(dice);
  const isComplaint = fields[0]?.startsWith('Feedback') === true;
  const boundary = mostly(dice, 'B1', ['', 'a"b', 'x'.repeat(500), '--', 'B1 ']);
  const part = mostly(dice, isComplaint ? 'message/feedback-report' : 'message/delivery-status', [
    'message/global-delivery-status',
    'message/rfc822',
    'text/plain; charset=utf-7',
    bytesOf(hostileText(dice)),
  ]);
  const encoding = dice.pick(['7bit', '7bit', '7bit', '8bit', 'base64', 'quoted-printable', 'x-uuencode']);
  const text = fields.join(LINE);
  const body = encoding === 'base64' && dice.chance(0.7) ? Buffer.from(text, 'latin1').toString('base64') : text;
  return [
    `Subject: ${words(dice, 'Undelivered Mail Returned to Sender')}`,
    'MIME-Version: 1.0',
    `Content-Type: multipart/report; report-type=delivery-status; boundary="${boundary}"`,
    '',
    `--${boundary}`,
    `Content-Type: ${part}`,
    `Content-Transfer-Encoding: ${encoding}`,
    '',
    ...Array.from({ length: dice.pick([1, 1, 1, 1, 50]) }, () => body),
    mostly(dice, `--${boundary}--`, ['', `--${boundary}`]),
  ].join(LINE);
}

/** Parts within parts, each of which a reader may open. */
const nested = (depth: number): string =>
  Array.from({ length: depth }, (_, at) =>
    [`Content-Type: multipart/mixed; boundary=b${at}`, '', `--b${at}`, ''].join(LINE),
  ).join('');

/** Two readers of one mail must not disagree about where it ends. */
const ENDS = ['\n.\n', '\r\n.\n', '\n.\r\n', '\r.\r', '\r\n.\r', '\r\n\0.\r\n', '\r\n..\r\n'];

function content(dice: Dice): string {
  const whole = dice.chance(0.5) ? report(dice) : mutateText(dice, report(dice));
  return dice.weighted<string>([
    [60, bytesOf(whole)],
    [6, 'Subject: I am away\r\nAuto-Submitted: auto-replied\r\n\r\nuntil Monday'],
    [6, `${nested(dice.pick([3, 19, 21, 100, 1_000]))}Content-Type: message/delivery-status\r\n\r\nAction: failed`],
    [6, `${report(dice)}${dice.pick(ENDS)}MAIL FROM:<>\r\nRCPT TO:<ann@example.com>\r\nDATA\r\nsmuggled`],
    [5, `Content-Type: multipart/report; boundary=B\r\n\r\n${'--B\r\n\r\n'.repeat(dice.pick([100, 5_000]))}`],
    [5, `${`X: ${'y'.repeat(900)}\r\n`.repeat(dice.pick([10, 200]))}\r\n${whole}`.replaceAll(/[^\0-\xff]/g, '~')],
    [4, 'x'.repeat(dice.pick([2_000, 100_000, 270_000]))],
    [4, `${'y'.repeat(76)}\r\n`.repeat(dice.pick([100, 3_600]))],
    [4, `Subject: ${dice.pick(BROKEN_BYTES)}\r\n\r\n${dice.pick(BROKEN_BYTES).repeat(100)}\0\0`],
  ]);
}

/** Whether the mail is for an address that is ours: any other must never be taken. */
export const isForUs = (conversation: string): boolean => conversation.includes('<{token}@bounces.test>');

/** Everything that a client says to the listener for mail that comes back, in one piece, with slips. */
export function mailConversation(dice: Dice): string {
  const recipient = mostly(dice, '{token}@bounces.test', FOREIGN, 0.15);
  const size = mostly(dice, '', [' SIZE=1000', ' SIZE=99999999999', ' SIZE=-1', ' BODY=8BITMIME SMTPUTF8', ' AUTH=<>']);
  const commands = [
    mostly(dice, 'LHLO relay.test', ['EHLO relay.test', 'HELO', `LHLO ${bytesOf(hostileText(dice))}`, '']),
    `MAIL FROM:<${words(dice, '', 0.06)}>${size}`,
    `RCPT TO:<${recipient}>`,
    ...(dice.chance(0.06) ? [`RCPT TO:<${dice.pick(FOREIGN)}>`] : []),
    ...(dice.chance(0.1)
      ? [dice.pick(['RSET', 'NOOP', 'VRFY root', 'EXPN all', 'AUTH PLAIN AGEAYg==', 'STARTTLS', 'BDAT 5 LAST', 'HELP'])]
      : []),
    'DATA',
  ];
  if (dice.chance(0.08)) commands.splice(dice.between(0, commands.length - 1), 1);
  if (dice.chance(0.04))
    commands.push(dice.pick(['x'.repeat(70_000), bytesOf(hostileText(dice)), 'NOOP\r\n'.repeat(500)]));
  const end = mostly(dice, `${LINE}.${LINE}QUIT${LINE}`, ['', LINE, `${LINE}.`, `${LINE}.${LINE}`], 0.06);
  return `${commands.join(LINE)}${LINE}${content(dice)}${end}`;
}
