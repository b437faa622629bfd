import { writeReceiptToken, type Receipt } from '@carillon/domain/receipts';
import type { AttemptId, DeliveryId } from '@carillon/kernel';
import type { BounceListener, BounceListenerOptions, BounceMail } from '@carillon/ports';
import { bringMail, statusReport } from '@carillon/testing';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { prepareFixture, type Fixture } from './gateway-fixture.ts';

const DELIVERY = 'dlv_0123456789ABCDEFGHJKMNPQRS' as DeliveryId;
const ATTEMPT = 'att_0123456789ABCDEFGHJKMNPQRS' as AttemptId;

let fixture: Fixture;
let port = 0;
/** The real listener, with the port that it found. */
let bounceMail: BounceMail;
beforeEach(async () => {
  fixture = await prepareFixture();
  bounceMail = {
    async listen(options: BounceListenerOptions): Promise<BounceListener> {
      const listener = await fixture.backend.bounceMail.listen(options);
      ({ port } = listener);
      return listener;
    },
  };
});
afterEach(() => fixture.stopGateways());

const BOUNCES = { host: '127.0.0.1', port: 0, protocol: 'lmtp' } as const;
const token = (): string =>
  writeReceiptToken({ deliveryId: DELIVERY, attempt: 1, id: ATTEMPT }, (...parts) =>
    fixture.backend.ids.keyed(...parts),
  );

const bring = (to: string, lines: readonly string[]): Promise<string> => bringMail(port, to, lines);
const REPORT = statusReport('ann@example.org', '5.1.1', '550 5.1.1 no such user');

async function receipts(): Promise<readonly Receipt[]> {
  return (await fixture.records('carillon.receipts')).flatMap((record) => {
    const read = fixture.backend.codecs.receipt.decode(record.value);
    return read.ok ? [read.value] : [];
  });
}

it('A report is on the log before the mail is answered, with the attempt that its address names and no account', async () => {
  await fixture.start({ bounces: BOUNCES }, { bounceMail });
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
  expect(fixture.returned).toEqual(['report']);
});

it('A report that is brought twice has the same id twice', async () => {
  await fixture.start({ bounces: BOUNCES }, { bounceMail });
  await bring(`${token()}@bounces.test`, REPORT);
  await bring(`${token()}@bounces.test`, ['Received: again', ...REPORT]);
  const ids = (await receipts()).map(({ id }) => id);
  expect([ids.length, new Set(ids).size]).toEqual([2, 1]);
});

it('Mail that is no report is taken, counted and dropped', async () => {
  await fixture.start({ bounces: BOUNCES }, { bounceMail });
  expect(await bring(`${token()}@bounces.test`, ['Subject: I am away', '', 'until Monday'])).toMatch(/^250/);
  expect(await receipts()).toEqual([]);
  expect(fixture.returned).toEqual(['none']);
});

it('Mail to anything but a token of this deployment is refused', async () => {
  await fixture.start({ bounces: BOUNCES }, { bounceMail });
  const forged = `${token().slice(0, -1)}${token().endsWith('x') ? 'y' : 'x'}`;
  for (const localPart of ['postmaster', 'root', forged]) {
    expect(await bring(`${localPart}@bounces.test`, REPORT)).toMatch(/^550/);
  }
  expect(await receipts()).toEqual([]);
  expect(fixture.returned).toEqual(['recipient', 'recipient', 'recipient']);
});

it('Where the log cannot be written the mail server is asked to come again', async () => {
  const log = { ...fixture.backend.log, append: () => Promise.reject(new Error('no disk')) };
  await fixture.start({ bounces: BOUNCES }, { bounceMail, log });
  expect(await bring(`${token()}@bounces.test`, REPORT)).toMatch(/^451/);
  expect(fixture.returned).toEqual(['unavailable']);
});

it('A gateway whose bounce listener cannot have its port does not start, and names the setting', async () => {
  await fixture.start({ bounces: BOUNCES }, { bounceMail });
  const again = fixture.start({ bounces: { ...BOUNCES, port } });
  await expect(again).rejects.toThrow(/bounces\.listen/);
});
