import type { AddressInfo } from 'node:net';
import type { AccountOf } from '@carillon/domain/configuration';
import { selfSigned, startScriptedSmtp } from '@carillon/testing';
import { SMTPServer, type SMTPServerOptions } from 'smtp-server';
import { afterEach, describe, expect, it } from 'vitest';
import { createSmtpSenderFactory } from '../src/index.ts';
import { tlsMode } from '../src/settings.ts';
import { account, context, guardOf, message, senderFor } from './accounts.ts';

const certificate = selfSigned('localhost');
const LOGIN = { user: 'shop', password: { secret: 'smtp_password' } } as const;

type Arrival = { readonly secure: boolean; readonly user: string | undefined };
const servers: { stop(): Promise<void> }[] = [];
afterEach(async () => {
  await Promise.all(servers.splice(0).map((server) => server.stop()));
});

/** A real mail server library, which speaks TLS and checks logins; our scripted one does neither. */
async function start(
  options: SMTPServerOptions = {},
): Promise<{ host: string; port: number; arrivals: readonly Arrival[] }> {
  const arrivals: Arrival[] = [];
  const server = new SMTPServer({
    ...certificate,
    authOptional: true,
    allowInsecureAuth: true,
    onAuth: ({ username, password }, _session, done) => {
      if (username === 'shop' && password === 'correct horse') done(null, { user: username });
      else done(Object.assign(new Error(`5.7.8 not ${username} with ${password}`), { responseCode: 535 }));
    },
    onData: (stream, session, done) => {
      arrivals.push({ secure: session.secure, user: typeof session.user === 'string' ? session.user : undefined });
      stream.on('end', () => done()).resume();
    },
    ...options,
  });
  server.on('error', () => undefined);
  await new Promise<void>((settle) => {
    server.listen(0, '127.0.0.1', settle);
  });
  servers.push({ stop: () => new Promise((settle) => server.close(() => settle())) });
  const { port } = server.server.address() as AddressInfo;
  return { host: 'localhost', port, arrivals };
}

async function scripted(): Promise<{ host: string; port: number; accepted: readonly unknown[] }> {
  const server = await startScriptedSmtp();
  servers.push(server);
  return server;
}

async function use(
  server: { host: string; port: number },
  more: Partial<AccountOf<'smtp'>>,
  trusted: readonly string[] = [certificate.cert],
): Promise<{
  result: Awaited<ReturnType<ReturnType<typeof senderFor>['send']>>;
  steps: Awaited<ReturnType<ReturnType<typeof senderFor>['check']>>;
}> {
  const sender = senderFor(server, more, { trusted });
  const result = await sender.send(message(), context());
  const steps = await sender.check();
  await sender.close();
  return { result, steps };
}

describe('TLS', () => {
  it('from the first byte works with a trusted certificate', async () => {
    const server = await start({ secure: true });
    const { result, steps } = await use(server, { tls: 'implicit' });
    expect(result.verdict).toBe('accepted');
    expect(server.arrivals).toEqual([{ secure: true, user: undefined }]);
    expect(steps.map((each) => [each.step, each.ok])).toEqual([
      ['resolve', true],
      ['connect', true],
      ['TLS', true],
      ['greeting', true],
      ['login', true],
    ]);
    expect(steps.find((each) => each.step === 'TLS')?.detail).toMatch(/^TLSv1\.[23], certificate of localhost until /);
  });

  it('after STARTTLS works with a trusted certificate', async () => {
    const server = await start();
    const { result, steps } = await use(server, { tls: 'starttls' });
    expect(result.verdict).toBe('accepted');
    expect(server.arrivals).toEqual([{ secure: true, user: undefined }]);
    expect(steps.every((each) => each.ok)).toBe(true);
  });

  for (const tls of ['implicit', 'starttls'] as const) {
    it(`${tls} refuses an untrusted certificate, and sends nothing`, async () => {
      const server = await start({ secure: tls === 'implicit' });
      const { result, steps } = await use(server, { tls }, []);
      expect(result).toMatchObject({ verdict: 'transient', alert: true });
      expect(result.detail).toBe('The certificate is signed by itself, not by an authority that this machine trusts.');
      expect(steps.at(-1)).toEqual({ step: 'TLS', ok: false, detail: result.detail });
      expect(server.arrivals).toEqual([]);
    });

    it(`${tls} refuses a certificate for another name`, async () => {
      const server = await start({ secure: tls === 'implicit' });
      const { result } = await use({ host: '127.0.0.1', port: server.port }, { tls });
      expect(result).toMatchObject({
        verdict: 'transient',
        alert: true,
        detail: 'The certificate belongs to another name.',
      });
    });
  }

  it('from the first byte to a server that expects plain text suggests starttls', async () => {
    const { result, steps } = await use(await scripted(), { tls: 'implicit' });
    expect(result).toMatchObject({ verdict: 'transient', alert: true });
    expect(result.detail).toContain('try starttls');
    expect(steps.at(-1)).toMatchObject({ step: 'TLS', ok: false });
  });

  it('that is required but not offered parks the account, and sends nothing in the clear', async () => {
    const server = await scripted();
    const { result, steps } = await use(server, { tls: 'starttls' });
    expect(result).toMatchObject({ verdict: 'refused_account', alert: true });
    expect(steps.at(-1)).toMatchObject({ step: 'TLS', ok: false });
    expect(server.accepted).toEqual([]);
  });

  it('that is opportunistic accepts any certificate, and sends without TLS if the server offers none', async () => {
    const server = await start();
    expect((await use(server, { tls: 'opportunistic' }, [])).result.verdict).toBe('accepted');
    expect(server.arrivals).toEqual([{ secure: true, user: undefined }]);
    const plain = await use(await scripted(), { tls: 'opportunistic' }, []);
    expect(plain.result.verdict).toBe('accepted');
    expect(plain.steps.find((each) => each.step === 'TLS')).toMatchObject({ ok: true, detail: 'not encrypted' });
  });

  it('that is disabled is not used', async () => {
    const server = await start();
    expect((await use(server, { tls: 'none' })).result.verdict).toBe('accepted');
    expect(server.arrivals).toEqual([{ secure: false, user: undefined }]);
  });

  it('that is not configured depends on the port, and never sends a password in the clear', () => {
    const base: AccountOf<'smtp'> = { kind: 'smtp', host: 'mx', port: 587, from: 'a@b.example' };
    expect(tlsMode({ ...base, port: 465 })).toBe('implicit');
    expect(tlsMode({ ...base, user: 'shop' })).toBe('starttls');
    expect(tlsMode(base)).toBe('opportunistic');
    expect(tlsMode({ ...base, tls: 'opportunistic', user: 'shop' })).toBe('starttls');
    expect(tlsMode({ ...base, port: 465, tls: 'none' })).toBe('none');
  });
});

describe('Login', () => {
  it('with the right password happens before the message', async () => {
    const server = await start();
    const { result, steps } = await use(server, { tls: 'starttls', ...LOGIN });
    expect(result.verdict).toBe('accepted');
    expect(server.arrivals).toEqual([{ secure: true, user: 'shop' }]);
    expect(steps.at(-1)).toEqual({ step: 'login', ok: true, detail: 'the server accepted user and password' });
  });

  it('with a wrong password parks the account, and shows neither user nor password even if the server does', async () => {
    const server = await start();
    const factory = createSmtpSenderFactory({
      clock: { now: () => 0 },
      guard: guardOf(),
      trusted: [certificate.cert],
    });
    const sender = factory.create(
      account(server, { tls: 'starttls', ...LOGIN }),
      { smtp_password: 'wrong stable' },
      '',
    );
    const result = await sender.send(message(), context());
    const steps = await sender.check();
    await sender.close();
    expect(result).toMatchObject({ verdict: 'refused_account', alert: true, suppress: null, code: '535 5.7.8' });
    expect(steps.at(-1)).toMatchObject({ step: 'login', ok: false });
    for (const shown of [result.detail, steps.at(-1)?.detail]) {
      expect(shown).toContain('not <credential> with <credential>');
      expect(shown).not.toMatch(/wrong stable|\bshop\b/);
    }
  });

  it('that the server does not offer parks the account', async () => {
    const server = await start({ disabledCommands: ['AUTH'] });
    const { result, steps } = await use(server, { tls: 'starttls', ...LOGIN });
    expect(result).toMatchObject({ verdict: 'refused_account', alert: true });
    expect(steps.at(-1)).toMatchObject({ step: 'login', ok: false });
    expect(server.arrivals).toEqual([]);
  });

  it('whose secret has no value parks the account without a connection', async () => {
    const server = await scripted();
    const sender = createSmtpSenderFactory({ clock: { now: () => 0 }, guard: guardOf() }).create(
      account(server, LOGIN),
      {},
      '',
    );
    expect(await sender.send(message(), context())).toMatchObject({ verdict: 'refused_account', alert: true });
    expect(await sender.check()).toEqual([
      { step: 'login', ok: false, detail: 'The secret smtp_password has no value.' },
    ]);
    await sender.close();
  });
});
