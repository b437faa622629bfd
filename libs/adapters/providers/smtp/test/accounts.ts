import type { AccountOf } from '@carillon/domain/configuration';
import { err, ok } from '@carillon/kernel';
import type { AddressGuard, RenderedEmail, SendContext } from '@carillon/ports';
import { createSmtpSenderFactory, type SmtpSenderDeps } from '../src/index.ts';

/** The clock of these tests stands still, so that what is computed from it can be written down. */
export const NOW = Date.UTC(2026, 10, 21, 9, 0, 0);

export const account = (
  server: { host: string; port: number },
  more: Partial<AccountOf<'smtp'>> = {},
): AccountOf<'smtp'> => ({
  kind: 'smtp',
  host: server.host,
  port: server.port,
  tls: 'none',
  from: 'Shop <shop@example.com>',
  ...more,
});

/** Stands in for a network in which only these may be connected to. */
export const guardOf = (...allowed: readonly string[]): AddressGuard => ({
  resolve: async (address) =>
    allowed.includes(address)
      ? ok([{ address, family: address.includes(':') ? 6 : 4, listed: true, isPublic: false }])
      : err({ reason: 'refused_address', detail: 'private' }),
});

/** The sender of an account of the deployment, unless it is said whose it is. */
export const senderFor = (
  server: { host: string; port: number },
  more: Partial<AccountOf<'smtp'>> = {},
  deps: Partial<SmtpSenderDeps> = {},
  workspace = '',
): ReturnType<ReturnType<typeof createSmtpSenderFactory>['create']> =>
  createSmtpSenderFactory({
    clock: { now: () => NOW },
    guard: guardOf(),
    ...deps,
    timeouts: { connection: 20_000, greeting: 20_000, socket: 20_000, attempt: 60_000, ...deps.timeouts },
  }).create(account(server, more), { smtp_password: 'correct horse' }, workspace);

export const message = (more: Partial<RenderedEmail> = {}): RenderedEmail => ({
  channel: 'email',
  to: 'ann.reader@example.org',
  from: { name: 'Shop', address: 'shop@example.com' },
  subject: 'Your order has shipped',
  html: '<p>It is on its way.</p>',
  text: 'It is on its way.',
  messageId: '<one@example.com>',
  ...more,
});

export const context = (signal: AbortSignal = new AbortController().signal): SendContext => ({
  workspace: 'shop',
  deliveryId: 'dlv_1',
  attemptToken: 'token-1',
  receiptToken: '0123456789abcdefghjkmnpqrs-1-0123456789',
  reportTo: null,
  traceparent: null,
  notAfter: Number.MAX_SAFE_INTEGER,
  signal,
});
