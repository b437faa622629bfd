import { once } from 'node:events';
import { createServer, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { deployment, notification, ORDER_PAID, ORDERS, stream, template } from '@carillon/testing/given';
import { untilFound } from '@carillon/testing/topology';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { RoleUnderTest } from './delivery-role.ts';

type Answer = (response: ServerResponse) => void;
const says =
  (status: number, body: object, headers: Readonly<Record<string, string>> = {}): Answer =>
  (response) =>
    void response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body));
const took = says(201, { sid: `SM${'1'.repeat(32)}`, status: 'queued' });

/** Stands in for Twilio: keeps what was asked of each account, and answers as the test says. */
class Twilio {
  readonly asked: { account: string; form: URLSearchParams }[] = [];
  answers: Answer = took;
  #server: Server | null = null;

  async start(): Promise<string> {
    this.#server = createServer((request, response) => {
      let body = '';
      request.setEncoding('utf8').on('data', (piece: string) => (body += piece));
      request.on('end', () => {
        const account = /Accounts\/(\w+)\//.exec(request.url ?? '')?.[1] ?? '';
        this.asked.push({ account, form: new URLSearchParams(body) });
        (account === 'AC01' ? this.answers : took)(response);
      });
    }).listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  accounts = (): readonly string[] => this.asked.map(({ account }) => account);

  async stop(): Promise<void> {
    this.#server?.closeAllConnections();
    await new Promise((done) => this.#server?.close(done));
  }
}

let under: RoleUnderTest;
let twilio: Twilio;
beforeEach(async () => {
  twilio = new Twilio();
  under = await RoleUnderTest.open({ secrets: { TOKEN: 'token' } });
  const url = await twilio.start();
  const account = { kind: 'twilio', auth_token: { secret: 'TOKEN' }, from: '+4930123', url } as const;
  await under.topology.publish(
    stream('orders', ORDERS),
    template('order-paid', { sms: { text: 'Order {{ order_id }} is paid' } }),
    notification('order-paid', {
      ...ORDER_PAID,
      channels: { sms: { template: 'order-paid' } },
      rules: {
        paid: {
          stream: 'orders',
          when: 'event.status == "paid"',
          recipients: { from: 'event', to: { phone: 'event.phone' }, unique_id: 'event.order_id' },
        },
      },
    }),
    deployment({
      public_url: 'https://notify.example.com',
      accounts: {
        sms: [
          { name: 'main', ...account, account_sid: 'AC01' },
          { name: 'spare', ...account, account_sid: 'AC02', allow: ['+49'] },
        ],
      },
    }),
  );
  await under.start();
}, 60_000);
afterEach(async () => {
  await under.close();
  await twilio.stop();
});

const paid = (order: string, phone = '+49 151 1234-5678'): Promise<string> =>
  under.topology.event({ status: 'paid', order_id: order, phone });

describe('an SMS through the delivery role', () => {
  it('is one request to the first account, with the callback URL for reports', async () => {
    await paid('A-1');
    const sent = await under.reaches('SENT');
    expect(sent.attempts.map(({ account }) => account)).toEqual(['default:sms:main']);
    const form = twilio.asked[0]?.form ?? new URLSearchParams();
    expect(Object.fromEntries(form)).toMatchObject({
      To: '+4915112345678',
      Body: 'Order A-1 is paid',
      From: '+4930123',
    });
    expect(form.get('StatusCallback')).toMatch(
      /^https:\/\/notify\.example\.com\/receipts\/twilio\/-\/main\/[a-z0-9]{26}-1-[a-z0-9]{10}$/i,
    );
    expect(Number(form.get('ValidityPeriod'))).toBeGreaterThan(3600);
    expect(twilio.asked).toHaveLength(1);
  });

  it.each([
    ['is throttled', says(429, { code: 20429, message: 'Too many requests' }, { 'retry-after': '30' }), []],
    ['refuses the account', says(401, { code: 20003, message: 'Authenticate' }), ['default:sms:main suspended']],
  ])('goes over the next account where the first %s', async (_what, answer, states) => {
    twilio.answers = answer;
    await paid('A-1');
    const sent = await under.reaches('SENT');
    expect(sent.attempts.map(({ account }) => account)).toEqual(['default:sms:main', 'default:sms:spare']);
    expect(twilio.accounts()).toEqual(['AC01', 'AC02']);
    expect(under.states).toEqual(states);
  });

  it('is never sent over the next account if the first may have accepted it', async () => {
    twilio.answers = (response) => void response.destroy();
    await paid('A-1');
    expect(await under.reaches('IN_DOUBT')).toMatchObject({ attempts: [{ account: 'default:sms:main' }] });
    twilio.answers = says(500, {});
    await paid('A-2');
    await under.reaches('IN_DOUBT', 'A-2');
    expect(twilio.accounts()).toEqual(['AC01', 'AC01']);
  });

  it('is not tried over an account that does not send to that number', async () => {
    twilio.answers = says(429, { code: 20429, message: 'Too many requests' });
    await paid('A-1', '+43 660 1234567');
    await untilFound('a call that was throttled', async () =>
      (await under.deliveries()).find(({ reason }) => reason === 'throttled'),
    );
    expect(twilio.accounts()).toEqual(['AC01']);
  });

  it('to a number that sent STOP fails, and the number is suppressed with source stop', async () => {
    twilio.answers = says(400, { code: 21610, message: 'Attempt to send to unsubscribed recipient' });
    await paid('A-1');
    expect(await under.reaches('FAILED')).toMatchObject({ reason: 'refused_recipient' });
    expect(await under.topology.data.suppressions.find('shop', 'sms', '+4915112345678')).toMatchObject({
      source: 'stop',
    });
    expect(twilio.accounts()).toEqual(['AC01']);
  });
});
