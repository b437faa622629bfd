import { once } from 'node:events';
import { connect } from 'node:net';

/**
 * Delivers a mail by LMTP to this machine, without a sender, as a mail server delivers a report. Resolves to the last
 * reply. Rejects if nobody listens, or if the other side closes before it replies.
 */
export async function bringMail(port: number, to: string, lines: readonly string[]): Promise<string> {
  const socket = connect(port, '127.0.0.1').setEncoding('utf8');
  const gone = new AbortController();
  socket.on('error', () => undefined).once('close', () => gone.abort(new Error('the connection ended')));
  let heard = '';
  socket.on('data', (piece: string) => (heard += piece));
  const reply = async (): Promise<string> => {
    while (!/^\d{3} .*\r\n/m.test(heard)) await once(socket, 'data', { signal: gone.signal });
    const last = heard.trim().split('\r\n').at(-1) ?? '';
    heard = '';
    return last;
  };
  const say = (line: string): Promise<string> => {
    socket.write(`${line}\r\n`);
    return reply();
  };
  try {
    await reply();
    await say('LHLO relay.test');
    await say('MAIL FROM:<>');
    const taken = await say(`RCPT TO:<${to}>`);
    if (!taken.startsWith('250')) return taken;
    const ready = await say('DATA');
    return ready.startsWith('354') ? await say([...lines, '.'].join('\r\n')) : ready;
  } finally {
    socket.end();
  }
}

/** Returns the report of a mail server that gave up on a recipient (RFC 3464), without the original message. */
export const statusReport = (recipient: string, status: string, words: string): readonly string[] => [
  'Content-Type: multipart/report; report-type=delivery-status; boundary="B"',
  '',
  '--B',
  'Content-Type: message/delivery-status',
  '',
  'Reporting-MTA: dns; relay.test',
  '',
  `Final-Recipient: rfc822; ${recipient}`,
  'Action: failed',
  `Status: ${status}`,
  `Diagnostic-Code: smtp; ${words}`,
  '--B--',
];
