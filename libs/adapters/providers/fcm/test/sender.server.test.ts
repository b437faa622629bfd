import type { AccountOf } from '@carillon/domain/configuration';
import type { ChannelSender, RenderedMessage, SendContext } from '@carillon/ports';
import { createLoopbackGuard } from '@carillon/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { createFcmSenderFactory } from '../src/index.ts';
import { answerFcm as answer, startScriptedFcm } from '@carillon/testing/providers';

const NOW = Date.UTC(2026, 10, 22, 12);
const push: RenderedMessage = {
  channel: 'push',
  to: 'abc:def',
  title: 'Paid',
  body: 'Thank you',
  image: null,
  link: null,
  data: { order: '1' },
  priority: 'high',
  collapse: null,
  androidChannel: null,
  apnsSound: null,
};
const context = (more: Partial<SendContext> = {}): SendContext => ({
  workspace: 'shop',
  deliveryId: 'dlv_1',
  attemptToken: 'token',
  receiptToken: '0123456789abcdefghjkmnpqrs-1-0123456789',
  reportTo: null,
  traceparent: null,
  notAfter: NOW + 90_000,
  signal: new AbortController().signal,
  ...more,
});

let fcm: Awaited<ReturnType<typeof startScriptedFcm>>;
const open: ChannelSender[] = [];
beforeEach(async () => {
  fcm = await startScriptedFcm();
});
afterEach(async () => {
  await Promise.all(open.splice(0).map((sender) => sender.close()));
  await fcm.stop();
});

function senderOf(
  secrets: Record<string, string> = { FCM: fcm.keyFile },
  more: Partial<AccountOf<'fcm'>> = {},
): ChannelSender {
  const factory = createFcmSenderFactory({
    clock: { now: () => NOW },
    guard: createLoopbackGuard(),
    trusted: fcm.trusted,
  });
  const sender = factory.create({ kind: 'fcm', credentials: { secret: 'FCM' }, url: fcm.url, ...more }, secrets, '');
  open.push(sender);
  return sender;
}

describe('an account of Firebase', () => {
  it('sends one POST with the remaining time of the message', async () => {
    expect(await senderOf().send(push, context())).toMatchObject({ verdict: 'accepted' });
    expect(fcm.received).toHaveLength(1);
    expect(JSON.parse(fcm.received[0]?.body ?? '')).toMatchObject({
      message: { token: 'abc:def', notification: { title: 'Paid', body: 'Thank you' }, android: { ttl: '90s' } },
    });
  });

  it.each([
    ['no value', {}, 'The secret FCM has no value.'],
    ['text that is no JSON', { FCM: 'AAAA:legacy-server-key' }, /^The secret holds no JSON/],
    ['a key file of another type', { FCM: '{"type":"external_account"}' }, /no key file of a service account/],
  ])(
    'with %s as its secret refuses the message, shows nothing of the secret, and sends nothing',
    async (_what, secrets, detail) => {
      const sender = senderOf(secrets);
      const refusal = await sender.send(push, context());
      expect(refusal).toMatchObject({ verdict: 'refused_account', alert: true });
      expect(refusal.detail).toMatch(detail);
      expect(refusal.detail).not.toContain('legacy-server-key');
      expect(await sender.check()).toEqual([{ step: 'credentials', ok: false, detail: refusal.detail }]);
      expect(fcm.received).toHaveLength(0);
    },
  );

  it('refuses messages of other channels', async () => {
    const sms = { channel: 'sms', to: '+4915112345678', text: 'Hi' } as const;
    expect(await senderOf().send(sms, context())).toMatchObject({ verdict: 'refused_account', alert: true });
    expect(fcm.received).toHaveLength(0);
  });

  it('is checked by a message that FCM only validates', async () => {
    const details = [
      { '@type': 'type.googleapis.com/google.rpc.BadRequest', fieldViolations: [{ field: 'message.token' }] },
    ];
    fcm.answers(answer(400, { error: { status: 'INVALID_ARGUMENT', message: 'no token', details } }));
    expect(await senderOf().check()).toEqual([
      { step: 'validate only', ok: true, detail: 'FCM takes messages of project demo-app' },
    ]);
    expect(JSON.parse(fcm.received[0]?.body ?? '')).toMatchObject({ validateOnly: true });
  });

  it('closes after its calls have ended, and accepts no more', async () => {
    const sender = senderOf();
    const call = sender.send(push, context());
    await Promise.all([sender.close(), sender.close()]);
    expect((await call).verdict).toBe('accepted');
    expect(await sender.send(push, context())).toMatchObject({ verdict: 'transient', code: 'stopped' });
    expect(fcm.received).toHaveLength(1);
  });
});
