import { err, ok } from '@carillon/kernel';
import type { AddressGuard } from '@carillon/ports';
import { type ScriptedSmtp, startScriptedSmtp } from '@carillon/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { context, guardOf, message, senderFor } from './accounts.ts';

let server: ScriptedSmtp;
beforeEach(async () => {
  server = await startScriptedSmtp();
});
afterEach(() => server.stop());

const words =
  'Carillon may not connect to the address of this mail server; the operator of the deployment can allow private ones.';

async function use(host: string, guard: AddressGuard, workspace = 'shop') {
  const sender = senderFor({ host, port: server.port }, {}, { guard }, workspace);
  const result = await sender.send(message(), context());
  const steps = await sender.check();
  await sender.close();
  return { result, steps };
}

describe('The mail server of a workspace', () => {
  it('gets no connection if the guard refuses its address, and the account is refused', async () => {
    const { result, steps } = await use('127.0.0.1', guardOf());
    expect(result).toMatchObject({ verdict: 'refused_account', code: 'refused_address', detail: words, alert: true });
    expect(steps).toEqual([{ step: 'resolve', ok: false, detail: words }]);
    expect(server.connections()).toBe(0);
  });

  it('gets no connection if its name has no allowed address, which counts as transient', async () => {
    const nowhere: AddressGuard = { resolve: async () => err({ reason: 'unresolved', detail: '' }) };
    const { result, steps } = await use('localhost', nowhere);
    expect(result).toMatchObject({ verdict: 'transient', code: 'unresolved', alert: true });
    expect(steps).toEqual([{ step: 'resolve', ok: false, detail: result.detail }]);
    expect(server.connections()).toBe(0);
  });

  it('may be at an address that the deployment lists', async () => {
    expect((await use('127.0.0.1', guardOf('127.0.0.1'))).result.verdict).toBe('accepted');
    expect(server.accepted).toHaveLength(1);
  });

  it.each(['127.0.0.9', 'localhost', 'mail.example.com'])(
    'is connected at the address that the guard checked, whatever its name resolves to later: %s',
    async (host) => {
      const asked: string[] = [];
      const elsewhere: AddressGuard = {
        resolve: async (name) => {
          asked.push(name);
          return ok([{ address: '127.0.0.1', family: 4, listed: true, isPublic: false }]);
        },
      };
      const { result, steps } = await use(host, elsewhere);
      expect(result.verdict).toBe('accepted');
      expect(steps[1]?.detail).toBe(`connected to 127.0.0.1 port ${server.port}`);
      // Once for each connection: the message, and the check.
      expect(asked).toEqual([host, host]);
    },
  );
});

it('The mail server of the deployment may have any address, because the operator chose it', async () => {
  expect((await use('127.0.0.1', guardOf(), '')).result.verdict).toBe('accepted');
});
