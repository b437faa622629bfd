import { SMTPServer, type SMTPServerDataStream } from 'smtp-server';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import type { Duration } from '@carillon/kernel';
import type { BounceListener, BounceListenerOptions } from '@carillon/ports';
import { MAX_BOUNCE_BYTES } from './limits.ts';
import { readMailReport } from './read-report.ts';

const MAX_CONNECTIONS = 20;
const CONNECTION_LIFETIME_MS = 30_000;

/**
 * Takes mail that comes back, for addresses of our own attempts and for nobody else: no relaying, no VRFY, no login, one
 * recipient a mail, at most 256 KiB, 20 connections of 30 s. It never sends anything.
 */
export async function startBounceListener(
  options: BounceListenerOptions,
  connectionLife: Duration = CONNECTION_LIFETIME_MS,
): Promise<BounceListener> {
  const tokenOf = (address: string): string | null => {
    const localPart = address.slice(0, Math.max(0, address.lastIndexOf('@')));
    return options.isToken(localPart) ? localPart : null;
  };
  const refused = options.refused ?? (() => undefined);
  const server = new SMTPServer({
    lmtp: options.protocol === 'lmtp',
    name: 'carillon',
    banner: 'Carillon takes delivery reports',
    size: MAX_BOUNCE_BYTES,
    maxClients: MAX_CONNECTIONS,
    socketTimeout: CONNECTION_LIFETIME_MS,
    closeTimeout: 1_000,
    authOptional: true,
    disableReverseLookup: true,
    disabledCommands: ['AUTH', 'STARTTLS', 'VRFY', 'HELP', 'XCLIENT', 'XFORWARD'],
    logger: false,
    onRcptTo({ address }, session, done) {
      if (session.envelope.rcptTo.length > 0) return done(reply(452, '4.5.3 One recipient at a time'));
      if (tokenOf(address) !== null) return done();
      refused('recipient');
      return done(reply(550, '5.1.1 Nobody takes mail here'));
    },
    onData(stream, session, done) {
      const [recipient] = session.envelope.rcptTo;
      const token = recipient ? tokenOf(recipient.address) : null;
      void answer(stream, token, done);
    },
  });

  async function answer(
    stream: SMTPServerDataStream,
    token: string | null,
    done: (error?: Error | null) => void,
  ): Promise<void> {
    const refusal = await takeMail(stream, token).catch(() => reply(451, '4.3.0 Try again later'));
    done(refusal);
  }

  async function takeMail(stream: SMTPServerDataStream, token: string | null): Promise<Error | null> {
    const pieces: Buffer[] = [];
    let bytes = 0;
    for await (const piece of stream as AsyncIterable<Buffer>) {
      bytes += piece.length;
      if (bytes <= MAX_BOUNCE_BYTES) pieces.push(piece);
    }
    if (token === null) return reply(550, '5.1.1 Nobody takes mail here');
    if (bytes > MAX_BOUNCE_BYTES || stream.sizeExceeded) {
      refused('too_large');
      return reply(552, '5.3.4 A report has at most 256 KiB');
    }
    try {
      await options.take(await readMailReport(Buffer.concat(pieces), token));
      return null;
    } catch {
      refused('unavailable');
      return reply(451, '4.3.0 Try again later');
    }
  }

  // A sender that drips a byte now and then is never idle, so the life of a connection has an end of its own.
  server.server.on('connection', (socket) => {
    const timer = setTimeout(() => socket.destroy(), connectionLife);
    socket.once('close', () => clearTimeout(timer));
  });
  // A connection that breaks is the other side's affair; without a listener it would end the process.
  server.on('error', () => undefined);
  server.listen(options.port, options.host);
  await once(server.server, 'listening');
  return {
    port: (server.server.address() as AddressInfo).port,
    listening: () => server.server.listening,
    close: () => new Promise<void>((done) => server.close(() => done())),
  };
}

const reply = (responseCode: number, message: string): Error => Object.assign(new Error(message), { responseCode });
