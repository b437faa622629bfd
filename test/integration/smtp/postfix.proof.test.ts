import { freePorts } from '@carillon/testing/services';
import { startPostfix, startScriptedSmtp, untilFound, type Postfix, type ScriptedSmtp } from '@carillon/testing';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openShop, order, shopFiles, smtpDeployment, type Shop } from '../product/shop.ts';

/*
 * The way back by mail, past a server that none of us wrote: Postfix takes our messages, is refused by the next server, writes
 * its report to the envelope sender, and brings that to the bounce listener by LMTP.
 */

let relay: ScriptedSmtp;
let postfix: Postfix;
let shop: Shop & { close(): Promise<void> };

/** The server behind Postfix: what it says to a recipient. */
const REPLIES: Readonly<Record<string, string>> = {
  'gone@example.com': '550 5.1.1 no such user here',
  'policy@example.com': '550 5.7.1 not wanted here',
};

describe.skipIf(process.getuid?.() !== 0)('a report that Postfix wrote (as root, whose queue has an owner)', () => {
  beforeAll(async () => {
    relay = await startScriptedSmtp({
      script: ({ stage, line }) => (stage === 'rcpt' ? REPLIES[/<([^>]*)>/.exec(line)?.[1] ?? ''] : undefined),
    });
    const [lmtpPort = 0] = await freePorts(1);
    postfix = await startPostfix({ relayPort: relay.port, bounceDomain: 'bounces.test', lmtpPort });
    shop = await openShop({
      files: shopFiles({ deployment: smtpDeployment(postfix.port, ', return_path: bounces.test') }),
      env: { CARILLON_BOUNCES_LISTEN: `127.0.0.1:${lmtpPort}` },
    });
  });
  afterAll(async () => {
    await shop.close();
    await postfix.stop();
    await relay.stop();
  });

  it('changes the delivery, and suppresses a missing mailbox', async () => {
    const event = await shop.send(order('o-1', { email: 'gone@example.com' }));
    const bounced = await shop.delivered(event, 'BOUNCED').catch(async (error: unknown) => {
      throw new Error(await postfix.log(), { cause: error });
    });
    expect(bounced).toMatchObject({ state: 'BOUNCED', reason: 'bounced' });
    expect(await shop.story(event)).toContain('dsn reported: failed: 5.1.1: smtp; 550 5.1.1 no such user here');
    const next = await shop.send(order('o-2', { email: 'gone@example.com' }));
    expect(await shop.delivered(next, 'SUPPRESSED')).toMatchObject({ state: 'SUPPRESSED' });
  });

  it('that blames the message does not suppress the address', async () => {
    const event = await shop.send(order('o-3', { email: 'policy@example.com' }));
    await shop.delivered(event, 'BOUNCED');
    const again = await shop.send(order('o-4', { email: 'policy@example.com' }));
    await shop.delivered(again, 'BOUNCED');
  });

  it('is counted, and the listener is listed in readiness', async () => {
    const metrics = await untilFound('the reports are counted', async () => {
      const text = await (await fetch(`${shop.product.controlUrl}/metrics`)).text();
      return text.includes('carillon_returned_mails_total{result="report"} 3') ? text : undefined;
    });
    expect(metrics).toContain('carillon_returned_mails_total{result="recipient"} 0');
    const ready = (await (await fetch(`${shop.product.controlUrl}/readyz`)).json()) as { checks: { name: string }[] };
    expect(ready.checks).toContainEqual(expect.objectContaining({ name: 'bounces', ok: true }));
  });
});
