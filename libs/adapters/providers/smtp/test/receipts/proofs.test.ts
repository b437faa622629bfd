import { createHmac, generateKeyPairSync, sign } from 'node:crypto';
import { describe, expect, it } from 'vitest';
import { isFromPostmark, isFromSendGrid, mailgunNonce, type Callback } from '../../src/receipts/index.ts';

const NOW = Date.UTC(2026, 10, 22, 12);
const HOUR = 3_600_000;
const callback = (body: string | Uint8Array, headers: Callback['headers'] = {}): Callback => ({
  headers,
  body: Buffer.from(body),
});

describe('SendGrid’s signature', () => {
  const { publicKey, privateKey } = generateKeyPairSync('ec', { namedCurve: 'prime256v1' });
  const key = publicKey.export({ format: 'der', type: 'spki' }).toString('base64');
  const signed = (body: string, at = NOW, signer = privateKey): Callback => {
    const timestamp = String(Math.floor(at / 1000));
    const signature = sign('sha256', Buffer.from(timestamp + body), signer).toString('base64');
    return callback(body, {
      'x-twilio-email-event-webhook-timestamp': timestamp,
      'x-twilio-email-event-webhook-signature': signature,
    });
  };

  it('is valid over timestamp and body', () => {
    expect(isFromSendGrid(signed('[{"event":"delivered"}]'), key, NOW)).toBe(true);
  });

  it('is invalid for another body, time or key, a day later, or with an invalid key', () => {
    const good = signed('[]');
    expect(isFromSendGrid({ ...good, body: Buffer.from('[ ]') }, key, NOW)).toBe(false);
    const moved = { ...good.headers, 'x-twilio-email-event-webhook-timestamp': String(NOW / 1000 + 1) };
    expect(isFromSendGrid({ ...good, headers: moved }, key, NOW)).toBe(false);
    const other = generateKeyPairSync('ec', { namedCurve: 'prime256v1' }).privateKey;
    expect(isFromSendGrid(signed('[]', NOW, other), key, NOW)).toBe(false);
    expect(isFromSendGrid(signed('[]', NOW - 25 * HOUR), key, NOW)).toBe(false);
    expect(isFromSendGrid(signed('[]', NOW + HOUR), key, NOW)).toBe(false);
    const rsa = generateKeyPairSync('rsa', { modulusLength: 2048 }).publicKey.export({ format: 'der', type: 'spki' });
    expect(isFromSendGrid(good, rsa.toString('base64'), NOW)).toBe(false);
    expect(isFromSendGrid(good, 'not a key', NOW)).toBe(false);
    expect(isFromSendGrid(callback('[]'), key, NOW)).toBe(false);
  });
});

describe('Mailgun’s proof', () => {
  const signed = (token: string, at = NOW, key = 'signing'): Buffer => {
    const timestamp = String(Math.floor(at / 1000));
    const signature = createHmac('sha256', key)
      .update(timestamp + token)
      .digest('hex');
    return Buffer.from(JSON.stringify({ signature: { timestamp, token, signature }, 'event-data': {} }));
  };

  it('has a token that is valid once', () => {
    expect(mailgunNonce(signed('abc'), 'signing', NOW)).toBe('abc');
  });

  it('is invalid under another key, a day later, for another token, or outside JSON', () => {
    expect(mailgunNonce(signed('abc', NOW, 'other'), 'signing', NOW)).toBeNull();
    expect(mailgunNonce(signed('abc', NOW - 25 * HOUR), 'signing', NOW)).toBeNull();
    expect(mailgunNonce(Buffer.from(signed('abc').toString().replace('abc', 'abd')), 'signing', NOW)).toBeNull();
    expect(mailgunNonce(signed(''), 'signing', NOW)).toBeNull();
    expect(mailgunNonce(Buffer.from('{'), 'signing', NOW)).toBeNull();
  });
});

describe('Postmark’s credentials', () => {
  const basic = (text: string) => ({ headers: { authorization: `Basic ${Buffer.from(text).toString('base64')}` } });

  it('are valid with user and password', () => {
    expect(isFromPostmark(basic('user:pass'), 'user:pass')).toBe(true);
  });

  it('are invalid with another password or scheme, or if they are missing', () => {
    expect(isFromPostmark(basic('user:past'), 'user:pass')).toBe(false);
    expect(isFromPostmark({ headers: { authorization: 'Bearer user:pass' } }, 'user:pass')).toBe(false);
    expect(isFromPostmark({ headers: {} }, 'user:pass')).toBe(false);
  });
});
