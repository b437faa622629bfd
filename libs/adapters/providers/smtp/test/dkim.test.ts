import { type ScriptedSmtp, startScriptedSmtp } from '@carillon/testing';
import { dkimVerify } from 'mailauth';
import { generateKeyPairSync } from 'node:crypto';
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { createMailSigner } from '../src/dkim.ts';
import { createSmtpSenderFactory } from '../src/index.ts';
import { account, context, guardOf, message, NOW } from './accounts.ts';

const dkim = { domain: 'shop.example.com', selector: 'k1', key: { secret: 'DKIM_KEY' } };
const pemOf = (bits: number): string =>
  generateKeyPairSync('rsa', { modulusLength: bits }).privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();

let pem: string;
let server: ScriptedSmtp;
beforeAll(() => {
  pem = pemOf(2048);
});
beforeEach(async () => {
  server = await startScriptedSmtp();
});
afterEach(() => server.stop());

function signer() {
  const made = createMailSigner(dkim, pem);
  if (!made.ok) throw new Error(made.error);
  return made.value;
}

/** What a verifier that we did not write says, with a DNS that has the record of the signer alone. */
async function verified(raw: Buffer) {
  const { name, value } = signer().record;
  const resolver = async (asked: string, kind: string): Promise<string[][]> => {
    if (asked !== name || kind !== 'TXT') throw Object.assign(new Error('no such name'), { code: 'ENOTFOUND' });
    return [[value]];
  };
  const { results } = await dkimVerify(raw, { resolver });
  return results.map(({ signingDomain, selector, status, signingHeaders }) => ({
    signingDomain,
    selector,
    result: status.result,
    fields:
      signingHeaders?.keys
        .toLowerCase()
        .split(':')
        .map((field) => field.trim()) ?? [],
  }));
}

const senderWith = (secrets: Readonly<Record<string, string>>) =>
  createSmtpSenderFactory({ clock: { now: () => NOW }, guard: guardOf() }).create(
    account(server, { dkim }),
    secrets,
    '',
  );

describe('a signed message', () => {
  it('verifies for its domain, also with non-ASCII letters, leading dots and long lines', async () => {
    const sender = senderWith({ DKIM_KEY: pem });
    const texts = ['Hello', '.\r\n..\r\n.leading', 'Größe — ✓ 東京', `${'x'.repeat(2000)}\n\n\n`];
    for (const text of texts) {
      const subject = `Grüße, "Ann": ${text.slice(0, 40)}`;
      expect((await sender.send(message({ subject, text }), context())).verdict).toBe('accepted');
    }
    await sender.close();
    expect(server.accepted).toHaveLength(texts.length);
    for (const { raw } of server.accepted) {
      const [result, ...others] = await verified(Buffer.from(raw, 'latin1'));
      expect(result).toMatchObject({ signingDomain: 'shop.example.com', selector: 'k1', result: 'pass' });
      expect(result?.fields).toEqual(expect.arrayContaining(['from', 'to', 'subject', 'date', 'message-id']));
      expect(others).toEqual([]);
    }
  });

  it('covers both fields of one-click unsubscription (RFC 8058)', async () => {
    const raw = [
      'From: Shop <shop@shop.example.com>',
      'To: ann@example.org',
      'Subject: Hi',
      'List-Unsubscribe: <https://notify.example.com/unsubscribe/abc>',
      'List-Unsubscribe-Post: List-Unsubscribe=One-Click',
      '',
      'Hello',
      '',
    ].join('\r\n');
    const signed = await signer().sign(Buffer.from(raw));
    expect(await verified(signed)).toMatchObject([{ result: 'pass' }]);
    expect((await verified(signed))[0]?.fields).toEqual(
      expect.arrayContaining(['list-unsubscribe', 'list-unsubscribe-post']),
    );
    for (const [from, to] of [
      ['unsubscribe/abc', 'unsubscribe/def'],
      ['One-Click', 'Two-Clicks'],
      ['Hello', 'Hullo'],
    ] as const) {
      const altered = Buffer.from(signed.toString('latin1').replace(from, to), 'latin1');
      expect((await verified(altered))[0]?.result, from).not.toBe('pass');
    }
  });
});

describe('an account that signs', () => {
  const bad = 'DKIM_KEY';
  let weak: string;
  let other: string;
  beforeAll(() => {
    weak = pemOf(512);
    other = generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }).toString();
  });

  it.each([
    ['no value', () => ({}), /The secret DKIM_KEY has no value/],
    ['text that is no key', () => ({ [bad]: 'hunter2' }), /holds no private key/],
    ['a key of another kind', () => ({ [bad]: other }), /none of RSA/],
    ['a key that is too short', () => ({ [bad]: weak }), /has 512 bits/],
  ])(
    'with %s sends nothing unsigned, and gives the reason without showing the secret',
    async (_what, secrets, words) => {
      const sender = senderWith(secrets());
      const refusal = await sender.send(message(), context());
      expect(refusal).toMatchObject({ verdict: 'refused_account', alert: true });
      expect(refusal.detail).toMatch(words);
      expect(refusal.detail).not.toContain('hunter2');
      expect(await sender.check()).toMatchObject([{ ok: false }]);
      expect(server.accepted).toEqual([]);
      await sender.close();
    },
  );

  it('shows the required DNS record when it is checked', async () => {
    const sender = senderWith({ DKIM_KEY: pem });
    const [step] = await sender.check();
    expect(step).toMatchObject({ step: 'DKIM', ok: true });
    expect(step?.detail).toContain('k1._domainkey.shop.example.com TXT "v=DKIM1; k=rsa; p=MII');
    await sender.close();
  });
});
