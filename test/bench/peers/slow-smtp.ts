/**
 * A mail server in a process of its own that thinks for some milliseconds before each reply: `node slow-smtp.ts 5`. It says
 * its port by IPC, and for any message how many mails it has taken and how many of them twice, by their Message-ID.
 */
import { createServer, type Socket } from 'node:net';

export type SlowSmtpReport = { readonly taken: number; readonly twice: number };

const [think = '5'] = process.argv.slice(2);
const seen = new Set<string>();
let twice = 0;

function take(mail: string): void {
  const id = /^message-id: *(\S+)/im.exec(mail)?.[1] ?? '';
  if (seen.has(id)) twice += 1;
  seen.add(id);
}

function serve(socket: Socket): void {
  let input = '';
  let inBody = false;
  const say = (reply: string): void =>
    void setTimeout(() => socket.writable && socket.write(`${reply}\r\n`), Number(think));
  const command = (line: string): void => {
    const verb = line.slice(0, 4).toUpperCase();
    if (verb === 'QUIT') return void socket.end('221 bye\r\n');
    if (verb !== 'DATA') return say(verb === 'EHLO' ? '250-slow.test\r\n250 8BITMIME' : '250 ok');
    inBody = true;
    say('354 go on');
  };
  socket.setNoDelay(true).on('error', () => undefined);
  socket.setEncoding('latin1').on('data', (chunk: string) => {
    input += chunk;
    for (;;) {
      const end = input.indexOf(inBody ? '\r\n.\r\n' : '\r\n');
      if (end < 0) return;
      const piece = input.slice(0, end);
      input = input.slice(end + (inBody ? 5 : 2));
      if (!inBody) {
        command(piece);
        continue;
      }
      inBody = false;
      take(piece);
      say('250 2.0.0 Ok: queued as SLOW');
    }
  });
  say('220 slow.test ESMTP');
}

const server = createServer(serve);
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  process.send?.({ port: typeof address === 'object' ? address?.port : undefined });
});
process.on('message', () => process.send?.({ taken: seen.size, twice } satisfies SlowSmtpReport));
process.on('disconnect', () => process.exit());
