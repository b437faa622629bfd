import { fork, type ChildProcess } from 'node:child_process';
import { generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { fileURLToPath } from 'node:url';
import { createSmtpSenderFactory } from '@carillon/adapter-smtp';
import { systemClock } from '@carillon/adapter-system';
import { ok } from '@carillon/kernel';
import type { AddressGuard } from '@carillon/ports';
import { createTransport } from 'nodemailer';
import type { Bench, OpenSide, Side } from '../harness/bench.ts';
import { closedLoop } from '../harness/load.ts';
import type { SlowSmtpReport } from '../peers/slow-smtp.ts';
import { secondsOf } from '../warm-up.ts';

const THINK = 5;
const CONNECTIONS = 20;
const FROM = { name: 'Shop', address: 'shop@example.com' };
const TEXT = 'Your order is on its way. '.repeat(40);
const HTML = `<p>${'Your order is on its way. '.repeat(90)}</p>`;

type Place = { readonly port: number };

/** A side with a mail server of its own. `send` resolves when mail `n` was accepted, and rejects otherwise. */
function sending(
  name: string,
  open: number,
  connectTo: (place: Place) => Promise<{ send(n: number): Promise<void>; close(): Promise<void> }>,
): Side {
  return {
    name,
    syncs: 'nothing',
    async open(): Promise<OpenSide> {
      const server: ChildProcess = fork(fileURLToPath(new URL('../peers/slow-smtp.ts', import.meta.url)), [
        String(THINK),
      ]);
      const [place] = (await once(server, 'message')) as [Place];
      const client = await connectTo(place);
      let sent = 0;
      return {
        processes: { bench: process.pid, server: server.pid ?? 0 },
        async round(round) {
          const before = sent;
          return closedLoop({ open, seconds: secondsOf(round) }, (n) => {
            sent += 1;
            return client.send(before + n);
          });
        },
        async verify() {
          server.send('how many');
          const [{ taken, twice }] = (await once(server, 'message')) as [SlowSmtpReport];
          return taken === sent && twice === 0
            ? []
            : [`${sent} mails were sent, ${taken} arrived, ${twice} of them twice`];
        },
        async close() {
          await client.close();
          const gone = once(server, 'exit');
          server.disconnect();
          await gone;
        },
      };
    },
  };
}

const messageId = (n: number): string => `<mail-${n}@example.com>`;

const everywhere: AddressGuard = {
  resolve: async (address) => ok([{ address, family: 4, listed: true }]),
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
  sending(name, CONNECTIONS, async ({ port }) => {
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

const carillon = product('carillon', false);
const unpooled = sending('nodemailer, one by one', 1, async ({ port }) => {
  const transport = createTransport({ host: '127.0.0.1', port, secure: false, ignoreTLS: true });
  return {
    send: async (n) =>
      void (await transport.sendMail({
        from: FROM,
        to: `user-${n}@example.com`,
        subject: `Order ${n}`,
        html: HTML,
        text: TEXT,
        messageId: messageId(n),
      })),
    close: async () => transport.close(),
  };
});

/** What the server lets through at best: connections that are there, and nothing done but to write what was made before. */
const bare = sending('bare sockets', CONNECTIONS, async ({ port }) => {
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

export const smtp: Bench = {
  name: 'smtp',
  title: 'Sending mail',
  what: `A mail server in a process of its own thinks ${THINK} ms before each of its replies. The product's SMTP adapter keeps up to ${CONNECTIONS} connections
open; bare sockets show what the same connections let through at best, without composing a mail or reading a reply; nodemailer without
a pool sends one mail after the other, each over a connection of its own. In the second case the same adapter also signs each mail (DKIM, RSA
of 2048 bits), gives it an envelope sender of its own and the link that stops such mails. Every mail arrives once.`,
  cases: [
    {
      title: `${THINK} ms a step, ${CONNECTIONS} connections`,
      counted: 'mails',
      delays: 'from handing over a mail to its acceptance',
      sides: [carillon, bare, unpooled],
      comparisons: [
        { side: 'carillon', to: 'bare sockets', measure: 'rate', wanted: 'at least', floor: 0.85, goal: 0.95 },
        { side: 'carillon', to: 'nodemailer, one by one', measure: 'rate', wanted: 'at least', floor: 15, goal: 18 },
      ],
    },
    {
      title: `signed, with return path and links, ${THINK} ms a step`,
      counted: 'mails',
      delays: 'from handing over a mail to its acceptance',
      sides: [product('with all', true), product('without', false)],
      comparisons: [{ side: 'with all', to: 'without', measure: 'rate', wanted: 'at least', floor: 0.85, goal: 0.95 }],
    },
  ],
};
