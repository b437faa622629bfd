import { bringMail, statusReport, untilFound, type LedgerEntry } from '@carillon/testing';
import { REPORT_TO, SID_OF, signedByTwilio } from '@carillon/testing/providers';
import { PUBLIC_URL, TWILIO_TOKEN } from '../providers.ts';
import { deliveriesOf } from './lives.ts';
import { addressOn, bounced, isSuppressed, order, TOLD_WITHIN, type Floor, type Scene } from './orders.ts';

/* What comes after a message was sent: its provider reports, mail comes back, and people want no more. */

const over = (what: string, scene: Scene): Promise<true> =>
  untilFound(what, async () => (await scene.isOver()) || undefined, TOLD_WITHIN);

/** Everything after this one was sent. */
async function sent(scene: Scene): Promise<void> {
  await scene.act();
  await over('a message that was sent', scene);
}

const pathOf = (url: string): string => url.slice(PUBLIC_URL.length);

/** What Twilio posts to this address: until it is answered 204. */
const report = async ({ lives }: Floor, url: string, form: Readonly<Record<string, string>>): Promise<void> => {
  await lives.reach(pathOf(url), signedByTwilio(url, form, TWILIO_TOKEN), 204);
};

/** Twilio says delivered, says it again, and then what came before; somebody else, who cannot sign, says that it failed. */
export async function reported(number: number, floor: Floor): Promise<Scene> {
  const { lives, providers } = floor;
  const scene = order(number, 'customer', floor, { channel: 'sms', ends: 'DELIVERED' });
  await sent(scene);
  const message = providers.twilio.messages.find(({ subject }) => subject === scene.subject);
  const url = message?.headers[REPORT_TO] ?? '';
  const status = (word: string) => ({ MessageSid: message?.headers[SID_OF] ?? '', MessageStatus: word });
  const to = { recipient: addressOn('sms', 'customer', number) };
  return {
    ...scene,
    async act() {
      for (const word of ['delivered', 'delivered', 'sent', 'queued']) await report(floor, url, status(word));
      const forged = signedByTwilio(url, { ...status('undelivered'), ErrorCode: '30005' }, 'guessed');
      // Whether it is refused nobody waits for: it may move nothing.
      await lives.reach(pathOf(url), forged, 401).catch(() => undefined);
    },
    // Whatever came of it after that, the verdict looks at.
    isOver: async () =>
      (await deliveriesOf(lives, to)).some(({ history = [] }) => history.some(({ state }) => state === 'DELIVERED')),
  };
}

/** The return address of a mail that was sent: reports on the mail go there. */
async function returnAddressOf({ smtp }: Floor, { subject }: Scene): Promise<string> {
  const of = (entry: LedgerEntry): boolean => entry.subject === subject;
  return (await untilFound('the mail in the book', async () => (await smtp.entries()).find(of))).sender ?? '';
}

/** A mail server brings its report until the listener takes it. */
async function bring({ bouncesPort }: Floor, to: string, lines: readonly string[]): Promise<void> {
  const taken = async (): Promise<true | undefined> => {
    const reply = await bringMail(bouncesPort, to, lines).catch(() => '');
    return reply.startsWith('250') || undefined;
  };
  await untilFound('a report that is taken', taken, TOLD_WITHIN);
}

export async function returned(number: number, floor: Floor): Promise<Scene> {
  const { lives } = floor;
  const scene = order(number, 'customer', floor, { ends: 'BOUNCED' });
  await sent(scene);
  const address = addressOn('email', 'customer', number);
  const sender = await returnAddressOf(floor, scene);
  return {
    ...scene,
    act: () => bring(floor, sender, statusReport(address, '5.1.1', '550 5.1.1 nobody of that name')),
    isOver: async () =>
      (await deliveriesOf(lives, { recipient: address, state: 'BOUNCED' })).length > 0 &&
      isSuppressed(lives, address, 'hard_bounce'),
  };
}

const COMPLAINT = [
  'Content-Type: multipart/report; report-type=feedback-report; boundary="B"',
  '',
  '--B',
  'Content-Type: message/feedback-report',
  '',
  'Feedback-Type: abuse',
  'User-Agent: FBL/1.0',
  'Version: 1',
  '--B--',
];

export async function complained(number: number, floor: Floor): Promise<Scene> {
  const { lives } = floor;
  const scene = order(number, 'customer', floor, { ends: 'COMPLAINED' });
  await sent(scene);
  const address = addressOn('email', 'customer', number);
  const sender = await returnAddressOf(floor, scene);
  return {
    ...scene,
    act: () => bring(floor, sender, COMPLAINT),
    isOver: async () => (await deliveriesOf(lives, { recipient: address, state: 'COMPLAINED' })).length > 0,
  };
}

/** A link that is looked at stops nothing; one that is posted to does, from the answer on. */
export async function unsubscribed(number: number, floor: Floor): Promise<Scene> {
  const { lives, smtp } = floor;
  const first = order(number, 'customer', floor, { ends: 'SENT' });
  await sent(first);
  const mail = (await smtp.entries()).find(({ subject }) => subject === first.subject);
  const path = pathOf(/<([^>]+)>/.exec(mail?.headers['list-unsubscribe'] ?? '')?.[1] ?? '');
  await lives.reach(path, { method: 'GET' }, 200);
  await lives.reach(path, { method: 'HEAD' }, 200);
  await sent(order(number, 'customer', floor, { suffix: '-looked', ends: 'SENT' }));
  const unwanted = order(number, 'customer', floor, { suffix: '-unwanted', unwanted: true, ends: 'SUPPRESSED' });
  return {
    ...unwanted,
    async act() {
      await lives.reach(path, { method: 'POST', body: 'List-Unsubscribe=One-Click', headers: FORM }, 200);
      await unwanted.act();
    },
  };
}

const FORM = { 'content-type': 'application/x-www-form-urlencoded' };

/** What somebody writes to the number of the shop. */
const inbound = (floor: Floor, from: string, words: string, sid: string): Promise<void> =>
  report(floor, `${PUBLIC_URL}/receipts/twilio/-/main`, {
    MessageSid: sid,
    SmsStatus: 'received',
    From: from,
    To: '+4915100000000',
    Body: words,
  });

/** Writes a word, and waits until the list shows it. */
async function wish(floor: Floor, phone: string, word: 'STOP' | 'START', number: number): Promise<void> {
  await inbound(floor, phone, word, `SM-${word}-${number}`);
  const shown = async () => (await isSuppressed(floor.lives, phone, 'stop')) === (word === 'STOP') || undefined;
  await untilFound(`${word} is carried out`, shown, TOLD_WITHIN);
}

export async function stopped(number: number, floor: Floor): Promise<Scene> {
  const phone = addressOn('sms', 'customer', number);
  const options = { channel: 'sms' } as const;
  const unwanted = order(number, 'customer', floor, {
    ...options,
    suffix: '-unwanted',
    unwanted: true,
    ends: 'SUPPRESSED',
  });
  const wanted = order(number, 'customer', floor, { ...options, suffix: '-wanted', ends: 'SENT' });
  return {
    ...wanted,
    async act() {
      await wish(floor, phone, 'STOP', number);
      await sent(unwanted);
      await wish(floor, phone, 'START', number);
      await wanted.act();
    },
  };
}

/** The provider says that there is no such number; that somebody there says START takes away his own STOP alone. */
export async function twiceBarred(number: number, floor: Floor): Promise<Scene> {
  const phone = addressOn('sms', 'gone', number);
  await sent(bounced(number, floor, 'sms'));
  const unwanted = order(number, 'gone', floor, {
    channel: 'sms',
    suffix: '-unwanted',
    unwanted: true,
    ends: 'SUPPRESSED',
  });
  return {
    ...unwanted,
    async act() {
      await wish(floor, phone, 'STOP', number);
      await wish(floor, phone, 'START', number);
      await unwanted.act();
    },
  };
}
