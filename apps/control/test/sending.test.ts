import type { SendingBody } from '@carillon/contracts';
import type { ChannelName } from '@carillon/domain/channels';
import { providerResult, type ProviderVerdict } from '@carillon/domain/deliveries';
import type { AttemptId } from '@carillon/kernel';
import { deliveryOf } from '@carillon/testing';
import { account, deployment, workspaceOf, type Wish } from '@carillon/testing/given';
import { createDirectWire, createMemoryLedger } from '@carillon/testing/memory';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { deploymentOwner } from '../src/access/principal.ts';
import { accessOf, openControl, publishWishes, type Fixture } from './control-fixture.ts';

const MINUTE = 60_000;
const smtp = { kind: 'smtp', host: 'mail.example.com', port: 587, from: 'shop@example.com' } as const;
let fixture: Fixture;
let ledger = createMemoryLedger().connect(createDirectWire());
beforeEach(async () => {
  ledger = createMemoryLedger().connect(createDirectWire());
  fixture = await openControl(accessOf(deploymentOwner('session')), { ledger });
});
afterEach(() => fixture.control.app.close());

const publish = (...wishes: readonly Wish[]) => publishWishes(fixture, [workspaceOf({}), ...wishes]);

async function sending(workspace = 'shop') {
  const answer = await fixture.control.app.inject({ method: 'GET', url: `/v1/workspaces/${workspace}/sending` });
  expect(answer.statusCode).toBe(200);
  const { channels, ...rest } = answer.json<SendingBody>();
  return { ...rest, of: (channel: ChannelName) => channels.find((one) => one.channel === channel)?.accounts ?? [] };
}

type Called = { readonly account?: string; readonly minutesAgo?: number; readonly notification?: string };
function called(
  verdict: ProviderVerdict,
  { account: over = 'default', minutesAgo = 1, notification = 'order-paid' }: Called = {},
) {
  const startedAt = fixture.clock.now() - minutesAgo * MINUTE;
  const attempt = {
    id: 'att_1' as AttemptId,
    token: 't',
    account: over,
    to: 'ada@example.com',
    startedAt,
    endedAt: startedAt + 1,
    result: providerResult(verdict, '550', 'no such user'),
  };
  return deliveryOf({ createdAt: startedAt - 8 * 60 * MINUTE, intent: { notification }, attempts: [attempt] });
}
const times = <T>(count: number, make: () => T): readonly T[] => Array.from({ length: count }, make);

describe('the sending of a workspace', () => {
  it('names the sandbox on channels without an account', async () => {
    await publish();
    const { of } = await sending();
    for (const channel of ['email', 'sms', 'push'] as const)
      expect(of(channel)).toMatchObject([{ kind: 'sandbox', owner: 'deployment', default: true }]);
  });

  it('names the deployment account that sends email, with its calls of the last hour', async () => {
    await publish(deployment({ accounts: { email: smtp } }), account('own', smtp));
    await ledger.insert([
      ...times(3, () => called('accepted')),
      called('refused_recipient'),
      called('transient'),
      called('ambiguous'),
      called('accepted', { minutesAgo: 61 }),
      called('accepted', { account: 'shop/gone' }),
    ]);
    const { of, complete } = await sending();
    expect(complete).toBe(true);
    const none = { accepted: 0, refused: 0, failed: 0, unknown: 0 };
    expect(of('email')).toMatchObject([
      { account: 'default', kind: 'smtp', default: true, calls: { accepted: 3, refused: 1, failed: 1, unknown: 1 } },
      { account: 'shop/own', owner: 'workspace', kind: 'smtp', default: false, calls: none },
      { account: 'shop/gone', owner: 'workspace', kind: null, default: false, calls: { ...none, accepted: 1 } },
    ]);
    expect(of('sms')).toMatchObject([{ account: 'sandbox:sms', kind: 'sandbox', calls: none }]);
  });

  it('names only the sandbox for a test environment, even if accounts exist', async () => {
    await publish(
      deployment({ accounts: { email: smtp } }),
      workspaceOf({ environment: 'test', of: 'shop' }, 'shop-test'),
      account('own', smtp, 'shop-test'),
    );
    expect((await sending('shop-test')).of('email')).toMatchObject([{ account: 'sandbox', kind: 'sandbox' }]);
  });

  it('calls refusals high from 21 in 15 minutes that are 10 % of the calls, per account and notification', async () => {
    await publish(deployment({ accounts: { email: smtp } }));
    await ledger.insert([
      ...times(21, () => called('refused_recipient')),
      ...times(189, () => called('accepted')),
      ...times(20, () => called('refused_content', { notification: 'order-sent' })),
      ...times(21, () => called('refused_content', { notification: 'cart', minutesAgo: 16 })),
      ...times(21, () => called('refused_recipient', { notification: 'news' })),
      ...times(190, () => called('accepted', { notification: 'news' })),
    ]);
    const [mail] = (await sending()).of('email');
    expect(mail?.calls.refused).toBe(83);
    const found = mail?.refusals.map(({ notification, ...counts }) => [notification, counts]);
    expect(Object.fromEntries(found ?? [])).toEqual({
      'order-paid': { calls: 210, refused: 21, high: true },
      'order-sent': { calls: 20, refused: 20, high: false },
      news: { calls: 211, refused: 21, high: false },
    });
  });
});
