import { startScriptedSmtp, type ScriptedSmtp } from '@carillon/testing';
import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { chapter } from './places.ts';
import { ORDER, ORDER_PAID, startCarillon, type Carillon } from './support.ts';

/*
 * 16. Your own accounts, and a failover
 *
 * A workspace can send over accounts of its own: one file for each, named by the notifications that use it. Several stand
 * in order of priority, and the next one takes over where the first certainly did not take a message. Where nobody can
 * say, it never does: that message waits for a person, since it may have arrived.
 */

const ACCOUNT = `AC${'0'.repeat(32)}`;

chapter('16. Your own accounts, and a failover', (newHome) => {
  let carillon: Carillon;
  let main: ScriptedSmtp;
  let backup: ScriptedSmtp;
  /** Stands in for Twilio: it knows one account and its token. */
  let twilio: Server;
  const asked: string[] = [];
  const account = (name: string, text: string): Promise<void> =>
    writeFile(join(carillon.folder, `carillon-demo/workspaces/shop/accounts/${name}.yaml`), text);
  const smtp = ({ port }: ScriptedSmtp): string =>
    `kind: smtp\nhost: 127.0.0.1\nport: ${port}\ntls: none\nfrom: Shop <shop@example.com>\n`;
  const accountsOf = async (order: string): Promise<readonly string[]> =>
    ((await carillon.delivery(order, 'SENT')).attempts as readonly { account: string }[]).map((one) => one.account);

  beforeAll(async () => {
    [main, backup] = await Promise.all([startScriptedSmtp(), startScriptedSmtp()]);
    twilio = createServer((request, response) => {
      asked.push(`${request.method} ${request.url}`);
      const known = request.headers.authorization === `Basic ${btoa(`${ACCOUNT}:right`)}`;
      response.writeHead(known ? 200 : 401, { 'content-type': 'application/json' });
      response.end(
        JSON.stringify(known ? { sid: ACCOUNT, status: 'active' } : { code: 20003, message: 'Authenticate' }),
      );
    }).listen(0, '127.0.0.1');
    await once(twilio, 'listening');
    // The operator allows it: a workspace could otherwise name addresses inside your network.
    carillon = await startCarillon(await newHome(), [], { CARILLON_ALLOWED_PRIVATE_ADDRESSES: '127.0.0.1' });
    await mkdir(join(carillon.folder, 'carillon-demo/workspaces/shop/accounts'), { recursive: true });
    await carillon.edit(ORDER_PAID, 'first: 30s, max: 4h', 'first: 1s, max: 1s');
  });
  afterAll(async () => {
    await carillon.leave();
    await Promise.all([main.stop(), backup.stop()]);
    twilio.closeAllConnections();
    await new Promise((done) => twilio.close(done));
  });

  it('sends over the first account that the notification names', async () => {
    await account('main', smtp(main));
    await account('backup', smtp(backup));
    await carillon.edit(
      ORDER_PAID,
      'email: { template: order-paid }',
      'email: { template: order-paid, accounts: [main, backup] }',
    );
    await carillon.apply();
    expect(await accountsOf(await carillon.send(ORDER))).toEqual(['shop/main']);
    expect([main.accepted.length, backup.accepted.length]).toEqual([1, 0]);
  });

  it('uses the next account if the first certainly accepted nothing', async () => {
    main.follow(({ stage }) => (stage === 'rcpt' ? '450 4.7.1 too many messages' : undefined));
    const order = await carillon.send(ORDER);
    expect(await accountsOf(order)).toEqual(['shop/main', 'shop/backup']);
    expect(backup.accepted).toHaveLength(1);
    // The story has both calls, and why the first came to nothing.
    expect(await carillon.trace(order)).toContain('450 4.7.1');
  });

  it('does not use the next account if the first may have accepted the message', async () => {
    main.follow(({ stage }) => (stage === 'dot' ? { ending: 'drop' } : undefined));
    const doubted = await carillon.delivery(await carillon.send(ORDER), 'IN_DOUBT');
    expect(doubted.attempts).toHaveLength(1);
    expect(backup.accepted).toHaveLength(1);
    await carillon.command(['deliveries', 'dismiss', doubted.id, '--as', 'sent', '--reason', 'found in the log']);
  });

  it('suspends an account that refuses us, says so, and sends everything else over the other one', async () => {
    main.follow(({ stage }) => (stage === 'greeting' ? '535 5.7.8 account closed' : undefined));
    expect(await accountsOf(await carillon.send(ORDER))).toEqual(['shop/main', 'shop/backup']);
    // From now on the first one is tried once a minute, and nobody waits for it.
    expect(await accountsOf(await carillon.send(ORDER))).toEqual(['shop/backup']);
    const { out } = await carillon.command(['doctor']);
    expect(out).toMatch(/account main.*refuses us since.*account closed.*shop\/backup sends meanwhile/s);
    const checked = await carillon.command(['account', 'check', 'main']);
    expect(checked.code).toBe(1);
    expect(checked.out).toContain('535 5.7.8');
  });

  it('refuses an account of another channel, and names the channel of the account', async () => {
    const { port } = twilio.address() as AddressInfo;
    const sms = [
      'kind: twilio',
      `account_sid: ${ACCOUNT}`,
      'auth_token: { secret: TWILIO_TOKEN }',
      'from: "+4915112345678"',
      'allow: ["+49"]',
      `url: http://127.0.0.1:${port}`,
      '',
    ].join('\n');
    await account('texts', sms);
    await carillon.edit(ORDER_PAID, 'accounts: [main, backup]', 'accounts: [texts, backup]');
    const { code, out, err } = await carillon.command(['apply', '-f', 'carillon-demo']);
    expect(code).toBe(2);
    expect(`${out}${err}`).toContain('the account texts cannot send email');
    await carillon.edit(ORDER_PAID, 'accounts: [texts, backup]', 'accounts: [main, backup]');
    await carillon.apply();
  });

  it('proves the credentials of an account without sending to anybody', async () => {
    const check = () => carillon.command(['account', 'check', 'texts']);
    expect((await check()).out).toContain('npx carillon secret set TWILIO_TOKEN --workspace shop');
    await carillon.command(['secret', 'set', 'TWILIO_TOKEN', '--workspace', 'shop'], 'wrong');
    expect((await check()).out).toContain('Authenticate');
    await carillon.command(['secret', 'set', 'TWILIO_TOKEN', '--workspace', 'shop'], 'right');
    const { code, out } = await check();
    expect(code, out).toBe(0);
    expect(out).toContain('the account is active');
    expect(asked.every((line) => line.startsWith('GET '))).toBe(true);
  });
});
