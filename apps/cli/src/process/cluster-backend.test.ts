import { expect, it } from 'vitest';
import { passwordCheck } from './cluster-backend.ts';

const sasl = { username: 'carillon', password: 'word' } as const;

it('doctor warns of a password that plain sends without TLS, and of no other', () => {
  expect(passwordCheck({ sasl: { ...sasl, mechanism: 'plain' } })).toMatchObject([
    { step: 'Kafka password', ok: false },
  ]);
  expect(passwordCheck({ sasl: { ...sasl, mechanism: 'plain' }, tls: true })).toEqual([]);
  expect(passwordCheck({ sasl: { ...sasl, mechanism: 'scram-sha-512' } })).toEqual([]);
  expect(passwordCheck({})).toEqual([]);
});
