import { connect } from 'node:net';
import { once } from 'node:events';
import { writeReceiptToken, type Receipt } from '@carillon/domain';
import type { AttemptId, DeliveryId } from '@carillon/kernel';
import type { BounceListener, BounceListenerOptions, BounceMail } from '@carillon/ports';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { prepareGround, type Ground } from './gateway-ground.ts';

const DELIVERY = 'dlv_0123456789ABCDEFGHJKMNPQRS' as DeliveryId;
const ATTEMPT = 'att_0123456789ABCDEFGHJKMNPQRS' as AttemptId;

let ground: Ground;
let port = 0;
/** The real listener, with the port that it found. */
let bounceMail: BounceMail;
beforeEach(async () => {
  ground = await prepareGround();
  bounceMail = {
    async listen(options: BounceListenerOptions): Promise<BounceListener> {
      const listener = await ground.backend.bounceMail.listen(options);
      ({ port } = listener);
      return listener;
    },
  };
});
afterEach(() => ground.stopGateways());

const BOUNCES = { host: '127.0.0.1', port: 0, protocol: 'lmtp' } as const;
const token = (): string =>
  writeReceiptToken({ deliveryId: DELIVERY, attempt: 1, id: ATTEMPT }, (...parts) =>
    ground.backend.ids.keyed(...parts),
  );

/** Brings a mail as Postfix does and resolves with the last reply. */
async function bring(to: string, lines: readonly string[]): Promise<string> {
  const socket = connect(port, '127.0.0.1').setEncoding('utf8');
  let heard = '';
  socket.on('data', (piece: string) => (heard += piece));
  const reply = async (): Promise<string> => {
    while (!/^\d{3} .*\r\n/m.test(heard)) await once(socket, 'data');
    const last = heard.trim().split('\r\n').at(-1) ?? '';
    heard = '';
    return last;
  };
  const say = (line: string): Promise<string> => {
    socket.write(`${line}\r\n`);
    return reply();
  };
  await reply();
  await say('LHLO relay.test');
  await say('MAIL FROM:<>');
  const taken = await say(`RCPT TO:<${to}>`);
  const answer =
    taken.startsWith('250') && (await say('DATA')).startsWith('354') ? say([...lines, '.'].join('\r\n')) : taken;
  const end = await answer;
  socket.end();
  return end;
}

const REPORT = [
  'Content-Type: multipart/report; report-type=delivery-status; boundary="B"',
  '',
  '--B',
  'Content-Type: message/delivery-status',
  '',
  'Reporting-MTA: dns; relay.test',
  '',
  'Final-Recipient: rfc822; ann@example.org',
  'Action: failed',
  'Status: 5.1.1',
  'Diagnostic-Code: smtp; 550 5.1.1 no such user',
  '--B--',
];

async function receipts(): Promise<readonly Receipt[]> {
  return (await ground.records('carillon.receipts')).flatMap((record) => {
    const read = ground.backend.codecs.receipt.decode(record.value);
    return read.ok ? [read.value] : [];
  });
}

it('A report is on the log before the mail is answered, with the attempt that its address names and no account', async () => {
  await ground.start({ bounces: BOUNCES }, { bounceMail });
  expect(await bring(`${token().toUpperCase()}@bounces.test`, REPORT)).toMatch(/^250/);
  expect(await receipts()).toMatchObject([
    {
      source: 'dsn',
      account: null,
      attempt: { deliveryId: DELIVERY, attempt: 1, tag: 'pqrs' },
      verdict: 'bounced',
      suppress: 'hard_bounce',
    },
  ]);
  expect(ground.returned).toEqual(['report']);
});

it('A report that is brought twice has the same id twice', async () => {
  await ground.start({ bounces: BOUNCES }, { bounceMail });
  await bring(`${token()}@bounces.test`, REPORT);
  await bring(`${token()}@bounces.test`, ['Received: again', ...REPORT]);
  const ids = (await receipts()).map(({ id }) => id);
  expect([ids.length, new Set(ids).size]).toEqual([2, 1]);
});

it('Mail that is no report is taken, counted and dropped', async () => {
  await ground.start({ bounces: BOUNCES }, { bounceMail });
  expect(await bring(`${token()}@bounces.test`, ['Subject: I am away', '', 'until Monday'])).toMatch(/^250/);
  expect(await receipts()).toEqual([]);
  expect(ground.returned).toEqual(['none']);
});

it('Mail to anything but a token of this deployment is refused', async () => {
  await ground.start({ bounces: BOUNCES }, { bounceMail });
  const forged = `${token().slice(0, -1)}${token().endsWith('x') ? 'y' : 'x'}`;
  for (const localPart of ['postmaster', 'root', forged]) {
    expect(await bring(`${localPart}@bounces.test`, REPORT)).toMatch(/^550/);
  }
  expect(await receipts()).toEqual([]);
  expect(ground.returned).toEqual(['recipient', 'recipient', 'recipient']);
});

it('Where the log cannot be written the mail server is asked to come again', async () => {
  const log = { ...ground.backend.log, append: () => Promise.reject(new Error('no disk')) };
  await ground.start({ bounces: BOUNCES }, { bounceMail, log });
  expect(await bring(`${token()}@bounces.test`, REPORT)).toMatch(/^451/);
  expect(ground.returned).toEqual(['unavailable']);
});

it('A gateway whose bounce listener cannot have its port does not start, and names the setting', async () => {
  await ground.start({ bounces: BOUNCES }, { bounceMail });
  const again = ground.start({ bounces: { ...BOUNCES, port } });
  await expect(again).rejects.toThrow(/bounces\.listen/);
});
