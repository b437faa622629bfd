import { startScriptedSmtp, untilFound, type ScriptedSmtp } from '@carillon/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openShop, order, shopFiles, type Files, type Shop } from './shop.ts';

/*
 * Who may apply files of a workspace names hosts of mail servers: the guard that stands before partners stands before
 * these too. The account of the deployment (carillon.yaml) is the operator's own, and free.
 */

let smtp: ScriptedSmtp;
beforeAll(async () => {
  smtp = await startScriptedSmtp();
});
afterAll(() => smtp.stop());

const REFUSED = 'Carillon may not connect to the address of this mail server';

const account = (host = '127.0.0.1'): string =>
  `{ kind: smtp, host: "${host}", port: ${smtp.port}, tls: none, from: Shop <shop@example.com> }`;

/** The shop with an account of its own at the mail server of this machine. */
const files = (): Files => {
  const plain = shopFiles();
  const path = 'workspaces/shop/notifications/order-paid.yaml';
  return {
    ...plain,
    [path]: (plain[path] ?? '').replace('{ template: order-paid }', '{ template: order-paid, accounts: [relay] }'),
    'workspaces/shop/accounts/relay.yaml': `${account()}\n`,
  };
};

describe('a mail server at a private address', () => {
  let shop: Shop & { close(): Promise<void> };
  afterAll(() => shop.close());

  it('is never connected to for a workspace; trace and check say why', async () => {
    shop = await openShop({ files: files() });
    const event = await shop.send(order('o-1'));
    const trace = await untilFound('an attempt in the trace', async () => {
      const { stdout } = await shop.run(['trace', event]);
      return stdout.includes('refused_address') ? stdout : undefined;
    });
    expect(trace).toContain(REFUSED);
    const checked = await shop.run(['account', 'check', 'relay']);
    expect(checked.stdout).toContain(`FAIL  resolve: ${REFUSED}`);
    expect(smtp.connections()).toBe(0);
  });

  it.each(['localhost', '2130706433', '0x7f.1', '::ffff:127.0.0.1', '0.0.0.0', '[::1]', 'localhost.'])(
    'is refused in whatever form it is named: %s',
    async (host) => {
      await shop.apply({ ...files(), 'workspaces/shop/accounts/relay.yaml': `${account(host)}\n` });
      const { status, body } = await shop.api<{ steps: { ok: boolean; step: string }[] }>(
        'POST',
        '/v1/workspaces/shop/accounts/relay/check',
      );
      expect(status).toBe(200);
      expect(body.steps.at(-1)).toMatchObject({ step: 'resolve', ok: false });
      expect(smtp.connections()).toBe(0);
    },
  );

  it('takes messages where the account is the deployment’s own', async () => {
    await shop.apply(shopFiles({ deployment: `backend: embedded\naccounts:\n  email: ${account()}\n` }));
    const event = await shop.send(order('o-2'));
    await shop.delivered(event, 'SENT');
    expect(smtp.accepted).toHaveLength(1);
  });
});

it('a mail server that the deployment lists takes messages of a workspace', async () => {
  const shop = await openShop({ files: files(), env: { CARILLON_ALLOWED_PRIVATE_ADDRESSES: '127.0.0.1' } });
  try {
    const before = smtp.accepted.length;
    await shop.delivered(await shop.send(order('o-3')), 'SENT');
    expect(smtp.accepted).toHaveLength(before + 1);
  } finally {
    await shop.close();
  }
});
