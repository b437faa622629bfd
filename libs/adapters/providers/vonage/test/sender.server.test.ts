import type { AccountOf } from '@carillon/domain/configuration';
import type { ChannelSender, RenderedMessage, SendContext } from '@carillon/ports';
import { createLoopbackGuard } from '@carillon/testing';
import { generateKeyPairSync, verify } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { CODES, createVonageSenderFactory } from '../src/index.ts';
import { answer, APPLICATION, KEYS, MESSAGE, PRIVATE_KEY, problem, startScriptedVonage } from './scripted-vonage.ts';

const NOW = Date.UTC(2026, 10, 22, 12);
const account: AccountOf<'vonage'> = {
  kind: 'vonage',
  application_id: APPLICATION,
  private_key: { secret: 'KEY' },
  signature_secret: { secret: 'SIGNATURE' },
  from: '+4930123456',
};
const sms: RenderedMessage = { channel: 'sms', to: '+4915112345678', text: 'Your parcel is here: 10 €' };
const REPORT_TO = 'https://n.example.com/receipts/vonage/shop/main/tok';
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

let vonage: Awaited<ReturnType<typeof startScriptedVonage>>;
const open: ChannelSender[] = [];
beforeEach(async () => {
  vonage = await startScriptedVonage();
});
afterEach(async () => {
  await Promise.all(open.splice(0).map((sender) => sender.close()));
  await vonage.stop();
});

function senderOf(more: Partial<AccountOf<'vonage'>> = {}, secrets: Record<string, string> = { KEY: PRIVATE_KEY }) {
  const limits = { answer: 300 };
  const factory = createVonageSenderFactory({ clock: { now: () => NOW }, guard: createLoopbackGuard(), limits });
  const sender = factory.create({ ...account, url: vonage.url, ...more }, secrets, '');
  open.push(sender);
  return sender;
}
const send = (more: Partial<SendContext> = {}) => senderOf().send(sms, context(more));

describe('a Vonage account', () => {
  it('posts one message with its report address and its time to live', async () => {
    expect(await send({ reportTo: REPORT_TO })).toMatchObject({ verdict: 'accepted', providerId: MESSAGE });
    expect(vonage.received.map(({ method, path, message }) => [method, path, message])).toEqual([
      [
        'POST',
        '/v1/messages',
        {
          channel: 'sms',
          message_type: 'text',
          to: '4915112345678',
          from: '4930123456',
          text: sms.text,
          ttl: 90,
          webhook_url: REPORT_TO,
          webhook_version: 'v1',
        },
      ],
    ]);
  });

  it('signs in by a token of its application, by its private key, for five minutes', async () => {
    await send();
    await send();
    const tokens = vonage.received.map(({ authorization }) => authorization.replace(/^Bearer /, ''));
    const claims = tokens.map((token) => {
      const [head = '', body = '', signature = ''] = token.split('.');
      const proof = Buffer.from(signature, 'base64url');
      expect(verify('RSA-SHA256', Buffer.from(`${head}.${body}`), KEYS.publicKey, proof)).toBe(true);
      expect(JSON.parse(Buffer.from(head, 'base64url').toString())).toEqual({ alg: 'RS256', typ: 'JWT' });
      return JSON.parse(Buffer.from(body, 'base64url').toString()) as { jti: string };
    });
    expect(claims[0]).toMatchObject({ application_id: APPLICATION, iat: NOW / 1000, exp: NOW / 1000 + 300 });
    expect(claims[0]?.jti).not.toBe(claims[1]?.jti);
  });

  it('sends no report address without the secret that verifies reports', async () => {
    const { signature_secret: _none, ...rest } = account;
    const factory = createVonageSenderFactory({ clock: { now: () => NOW }, guard: createLoopbackGuard() });
    const sender = factory.create({ ...rest, url: vonage.url }, { KEY: PRIVATE_KEY }, '');
    open.push(sender);
    await sender.send(sms, context({ reportTo: REPORT_TO }));
    expect(vonage.received[0]?.message).not.toHaveProperty('webhook_url');
  });

  it.each([
    [1_000, 20],
    [90_500, 90],
    [30 * 86_400_000, 604_800],
  ])('asks Vonage to give up after %d ms within the bounds of the API: %d s', async (left, ttl) => {
    await send({ notAfter: NOW + left });
    expect(vonage.received[0]?.message['ttl']).toBe(ttl);
  });

  it('refuses messages beyond the limits of the account before anything is sent', async () => {
    const long = { ...sms, text: 'x'.repeat(153 * 2 + 1) };
    expect(await senderOf({ max_segments: 2 }).send(long, context())).toMatchObject({ verdict: 'refused_content' });
    const longer = { ...sms, text: 'x'.repeat(1001) };
    const result = await senderOf({ max_segments: 10 }).send(longer, context());
    expect(result.verdict).toBe('refused_content');
    expect(result.detail).toContain('at most 1000');
    expect((await senderOf({ allow: ['+43'] }).send(sms, context())).verdict).toBe('refused_content');
    expect(vonage.received).toHaveLength(0);
  });

  it.each([...CODES].map(([code, row]) => [code, row.outcome] as const))(
    'maps the error %s as in the table, and sends once',
    async (code, outcome) => {
      vonage.answers(answer(422, problem(code)));
      expect(await send()).toMatchObject({ ...outcome, code, detail: 'Vonage says why' });
      expect(vonage.received).toHaveLength(1);
    },
  );

  it.each([
    [401, { title: 'Unauthorized', detail: 'wrong key' }, 'refused_account'],
    [402, { title: 'Payment Required' }, 'refused_account'],
    [403, {}, 'refused_account'],
    [404, '<html>', 'refused_account'],
    [422, problem('9999'), 'refused_content'],
    [429, {}, 'throttled'],
    [302, '', 'refused_account'],
    [500, problem('1120'), 'ambiguous'],
    [503, '<html>', 'ambiguous'],
    [202, {}, 'ambiguous'],
    [202, { message_uuid: 'no uuid' }, 'ambiguous'],
    [200, 'ok', 'ambiguous'],
  ])('maps a %d with %j to %s', async (status, body, verdict) => {
    vonage.answers(answer(status, body));
    expect(await send()).toMatchObject({ verdict });
    expect(vonage.received).toHaveLength(1);
  });

  it('waits as long as Retry-After says', async () => {
    vonage.answers(answer(429, problem('1000'), { 'retry-after': '30' }));
    expect(await send()).toMatchObject({ verdict: 'throttled', retryAt: NOW + 30_000 });
  });

  it('leaves a message in doubt if the connection breaks or no answer comes in time', async () => {
    vonage.answers((response) => void response.socket?.destroy());
    expect(await send()).toMatchObject({ verdict: 'ambiguous' });
    vonage.answers(() => undefined);
    expect(await send()).toMatchObject({ verdict: 'ambiguous' });
    expect(vonage.received).toHaveLength(2);
  });

  it('shows no token that a server echoes', async () => {
    vonage.answers((response, { authorization }) =>
      answer(400, { detail: `bad ${authorization.replace('Bearer ', '')}` })(response, vonage.received[0]!),
    );
    const { detail } = await send();
    expect(detail).toBe('bad <credential>');
  });

  it.each([
    [{}, 'The secret KEY has no value.'],
    [{ KEY: 'no key' }, 'The secret KEY is not an RSA private key (PEM).'],
    [{ KEY: ecKey() }, 'The secret KEY is not an RSA private key (PEM).'],
  ])('without a usable key refuses with the reason, and does not show the secret', async (secrets, detail) => {
    const sender = senderOf({}, secrets);
    expect(await sender.send(sms, context())).toMatchObject({ verdict: 'refused_account', alert: true, detail });
    expect(await sender.check()).toEqual([{ step: 'secret', ok: false, detail }]);
    expect(vonage.received).toHaveLength(0);
  });

  it('is checked by a message without a recipient, which Vonage refuses only after signing in', async () => {
    vonage.answers(answer(422, problem('1010', 'Missing params')));
    expect(await senderOf().check()).toMatchObject([{ step: 'sign in', ok: true }]);
    vonage.answers(answer(401, { title: 'Unauthorized', detail: 'You did not provide correct credentials.' }));
    expect(await senderOf().check()).toEqual([
      { step: 'sign in', ok: false, detail: 'You did not provide correct credentials.' },
    ]);
    for (const { message } of vonage.received) expect(message).not.toHaveProperty('to');
  });

  it('of a workspace is not reached in the clear unless the deployment lists the address', async () => {
    const unlisted = {
      resolve: async () => ({ ok: true, value: [{ address: '127.0.0.1', family: 4, listed: false, isPublic: true }] }),
    };
    const factory = createVonageSenderFactory({ clock: { now: () => NOW }, guard: unlisted as never });
    const url = `http://sms.example.com:${new URL(vonage.url).port}`;
    const sender = factory.create({ ...account, url }, { KEY: PRIVATE_KEY }, 'shop');
    open.push(sender);
    expect(await sender.send(sms, context())).toMatchObject({ verdict: 'transient', alert: true });
    expect(vonage.received).toHaveLength(0);
  });

  it('refuses messages of other channels', async () => {
    const push = { channel: 'push', to: 'a:b', title: 'Hi', body: null, image: null, link: null, data: {} } as const;
    const message = { ...push, priority: null, collapse: null, androidChannel: null, apnsSound: null };
    expect(await senderOf().send(message, context())).toMatchObject({ verdict: 'refused_account', alert: true });
    expect(vonage.received).toHaveLength(0);
  });

  it('sends nothing after it is stopped, and closes when its calls have ended', async () => {
    expect(await send({ signal: AbortSignal.abort() })).toMatchObject({ verdict: 'transient', code: 'stopped' });
    const sender = senderOf();
    const call = sender.send(sms, context());
    await sender.close();
    expect((await call).verdict).toBe('accepted');
    expect(await sender.send(sms, context())).toMatchObject({ verdict: 'transient', code: 'stopped' });
    expect(vonage.received).toHaveLength(1);
  });
});

function ecKey(): string {
  return generateKeyPairSync('ec', { namedCurve: 'prime256v1' }).privateKey.export({
    format: 'pem',
    type: 'pkcs8',
  }) as string;
}
