import { describe, expect, it } from 'vitest';
import { checkSignature } from '../src/webhook-signature.ts';

/** Made by the reference implementation of the standard (npm `standardwebhooks` 1.1.1). */
const SIGNED = {
  secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw',
  at: 1_614_265_330_000,
  body: '{"test": 2432232314}',
  headers: {
    'webhook-id': 'msg_p5jXN8AQM9LWM0D4loKWxJek',
    'webhook-timestamp': '1614265330',
    'webhook-signature': 'v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=',
  },
};
const check = (changed: Partial<typeof SIGNED> & { readonly now?: number } = {}): void => {
  const { headers, body, secret, at, now = at } = { ...SIGNED, ...changed };
  checkSignature(headers, new TextEncoder().encode(body), secret, now);
};
const headers = (changed: Partial<typeof SIGNED.headers>): typeof SIGNED.headers => ({ ...SIGNED.headers, ...changed });

describe('checkSignature', () => {
  it('takes what the reference implementation signed, also among other signatures and without the prefix of the secret', () => {
    check();
    check({ secret: SIGNED.secret.slice('whsec_'.length) });
    check({ headers: headers({ 'webhook-signature': `v1,AAAA v2,x ${SIGNED.headers['webhook-signature']}` }) });
  });

  it.each([
    ['another body', { body: '{"test": 2432232315}' }],
    ['another id', { headers: headers({ 'webhook-id': 'msg_1' }) }],
    ['another time', { headers: headers({ 'webhook-timestamp': '1614265331' }) }],
    ['another secret', { secret: `whsec_${Buffer.alloc(24).toString('base64')}` }],
    [
      'a signature of another version',
      { headers: headers({ 'webhook-signature': SIGNED.headers['webhook-signature'].replace('v1', 'v2') }) },
    ],
    ['no signature', { headers: headers({ 'webhook-signature': '' }) }],
  ])('refuses %s', (_title, changed) => {
    expect(() => check(changed)).toThrow('No stream accepts this signature');
  });

  it('refuses a signature that is more than 5 minutes from now, before or after', () => {
    check({ now: SIGNED.at + 300_000 });
    check({ now: SIGNED.at - 300_000 });
    for (const now of [SIGNED.at + 300_001, SIGNED.at - 300_001]) {
      expect(() => check({ now })).toThrow('older than 5 minutes');
    }
  });

  it('refuses to compare with a secret that anybody could guess', () => {
    expect(() => check({ secret: 'whsec_' })).toThrow('cannot be used');
  });
});
