import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { createSmtpSenderFactory } from '@carillon/adapter-providers/smtp';
import { systemClock } from '@carillon/adapter-system';
import { ok } from '@carillon/kernel';
import type { AddressGuard } from '@carillon/ports';
import type { BenchCase, Side } from '../harness/bench.ts';
import type { SlowSmtpReport } from '../peers/slow-smtp.ts';
import { clientSide, type ProviderClient } from './client-side.ts';

const REPLY_DELAY_MS = 5;
const CONNECTIONS = 20;
const FROM = { name: 'Shop', address: 'shop@example.com' };
const TEXT = 'Your order is on its way. '.repeat(40);
const HTML = `<p>${'Your order is on its way. '.repeat(90)}</p>`;

type Place = { readonly port: number };

const mailSide = (name: string, connectTo: (place: Place) => Promise<ProviderClient>): Side =>
  clientSide<Place, SlowSmtpReport>({
    name,
    program: 'slow-smtp.ts',
    delayMs: REPLY_DELAY_MS,
    concurrency: CONNECTIONS,
    connect: connectTo,
    arrived: ({ taken, twice }) => taken - twice,
  });

const messageId = (n: number): string => `<mail-${n}@example.com>`;

const everywhere: AddressGuard = {
  resolve: async (address) => ok([{ address, family: 4, listed: true, isPublic: false }]),
};

/** What makes a mail dearer: a signature, an envelope sender of its own, and a link. */
const DKIM_KEY = generateKeyPairSync('rsa', { modulusLength: 2048 })
  .privateKey.export({ type: 'pkcs8', format: 'pem' })
  .toString();
const SIGNED = {
  dkim: { domain: 'example.com', selector: 'k1', key: { secret: 'DKIM' } },
  return_path: 'bounces.example.com',
};
const LINK = `https://notify.example.com/unsubscribe/${'a'.repeat(200)}`;

const product = (name: string, signed: boolean): Side =>
  mailSide(name, async ({ port }) => {
    const factory = createSmtpSenderFactory({ clock: systemClock, guard: everywhere });
    const account = {
      kind: 'smtp',
      host: '127.0.0.1',
      port,
      tls: 'none',
      from: FROM.address,
      connections: CONNECTIONS,
      ...(signed ? SIGNED : {}),
    } as const;
    const sender = factory.create(account, signed ? { DKIM: DKIM_KEY } : {}, '');
    const { signal } = new AbortController();
    return {
      async send(n) {
        const to = `user-${n}@example.com`;
        const message = {
          channel: 'email',
          to,
          from: FROM,
          subject: `Order ${n}`,
          html: HTML,
          text: TEXT,
          messageId: messageId(n),
          ...(signed && { unsubscribe: LINK }),
        } as const;
        const context = {
          workspace: '',
          deliveryId: `dlv_${n}`,
          attemptToken: `${n}`,
          receiptToken: '0123456789abcdefghjkmnpqrs-1-0123456789',
          reportTo: null,
          traceparent: null,
          notAfter: Number.MAX_SAFE_INTEGER,
          signal,
        };
        const result = await sender.send(message, context);
        if (result.verdict !== 'accepted') throw new Error(`mail ${n}: ${result.code} ${result.detail}`);
      },
      close: () => sender.close(),
    };
  });

/** The best that the server allows: open connections, and prepared bytes. */
const bare = mailSide('bare sockets', async ({ port }) => {
  const free: Socket[] = [];
  const said = (socket: Socket): Promise<void> => once(socket, 'data').then(() => undefined);
  for (let at = 0; at < CONNECTIONS; at += 1) {
    const socket = connect(port, '127.0.0.1').setNoDelay(true);
    await said(socket);
    socket.write('EHLO bench\r\n');
    await said(socket);
    free.push(socket);
  }
  const sockets = [...free];
  return {
    async send(n) {
      const socket = free.pop();
      if (!socket) throw new Error('more mails than connections');
      const body = `Message-ID: ${messageId(n)}\r\nSubject: Order ${n}\r\n\r\n${TEXT}\r\n${HTML}\r\n.\r\n`;
      for (const line of [
        `MAIL FROM:<shop@example.com>\r\n`,
        `RCPT TO:<user-${n}@example.com>\r\n`,
        'DATA\r\n',
        body,
      ]) {
        socket.write(line);
        await said(socket);
      }
      free.push(socket);
    },
    close: async () => {
      for (const socket of sockets) socket.destroy();
    },
  };
});

export const mailCase: BenchCase = {
  title: 'mail',
  counted: 'mails',
  delays: 'from handing over a mail to its acceptance',
  sides: [product('SMTP adapter', false), product('SMTP adapter, signed', true), bare],
  comparisons: [
    { side: 'SMTP adapter', to: 'bare sockets', measure: 'rate', wanted: 'at least', floor: 0.85, goal: 0.95 },
    { side: 'SMTP adapter, signed', to: 'SMTP adapter', measure: 'rate', wanted: 'at least', floor: 0.85, goal: 0.95 },
  ],
};

export const MAIL_TEXT = `Mail: the server waits ${REPLY_DELAY_MS} ms before each reply. The SMTP adapter keeps up to ${CONNECTIONS} connections open. Bare sockets
write prepared bytes over as many connections. The signed side adds DKIM (RSA, 2048 bits), a return path and an unsubscribe link.`;
