import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { RECORD_SCHEMAS } from '@carillon/contracts';
import { expect, it } from 'vitest';
import { findSchemas, passwordCheck } from './cluster-backend.ts';

const sasl = { username: 'carillon', password: 'word' } as const;

it('doctor warns only about a password sent by PLAIN without TLS', () => {
  expect(passwordCheck({ sasl: { ...sasl, mechanism: 'plain' } })).toMatchObject([
    { step: 'Kafka password', ok: false },
  ]);
  expect(passwordCheck({ sasl: { ...sasl, mechanism: 'plain' }, tls: true })).toEqual([]);
  expect(passwordCheck({ sasl: { ...sasl, mechanism: 'scram-sha-512' } })).toEqual([]);
  expect(passwordCheck({})).toEqual([]);
});

it('doctor reports schemas that the registry lost, without registering them again', async () => {
  const lost = RECORD_SCHEMAS.intent.subject;
  const asked = new Set<string>();
  const registry = createServer((request, answer) => {
    asked.add(`${request.method} ${request.url}`);
    const isKnown = request.url !== `/subjects/${lost}`;
    answer.writeHead(isKnown ? 200 : 404, { 'content-type': 'application/json' });
    answer.end(JSON.stringify(isKnown ? { id: 1 } : { error_code: 40401, message: 'no such subject' }));
  }).listen(0, '127.0.0.1');
  await once(registry, 'listening');
  const { port } = registry.address() as AddressInfo;
  await expect(findSchemas({ url: `http://127.0.0.1:${port}` })).rejects.toThrow(`does not know ${lost}: did it lose`);
  // Asking for a version of a subject is how one registers it.
  expect(asked).toEqual(new Set(Object.values(RECORD_SCHEMAS).map(({ subject }) => `POST /subjects/${subject}`)));
  registry.close();
});
