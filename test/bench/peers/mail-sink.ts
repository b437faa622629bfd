/**
 * A mail server in a process of its own that takes everything and keeps nothing but when which subject came. It says its
 * port by IPC; a number sent to it asks for the mails that it has taken beyond so many.
 */
import { SMTPServer } from 'smtp-server';

export type SunkMail = { readonly subject: string; /** Milliseconds since 1970, in fractions. */ readonly at: number };

const mails: SunkMail[] = [];
const server = new SMTPServer({
  disabledCommands: ['AUTH', 'STARTTLS'],
  disableReverseLookup: true,
  logger: false,
  onData(stream, _session, done) {
    let text = '';
    stream.setEncoding('latin1').on('data', (piece: string) => (text += piece));
    stream.on('end', () => {
      const [, subject = ''] = /^subject: *(\S+)/im.exec(text) ?? [];
      mails.push({ subject, at: performance.timeOrigin + performance.now() });
      done();
    });
  },
});
server.listen(0, '127.0.0.1', () => {
  const address = server.server.address();
  process.send?.({ port: address !== null && typeof address === 'object' ? address.port : 0 });
});
process.on('message', (beyond: number) => process.send?.(mails.slice(beyond)));
process.on('disconnect', () => process.exit());
