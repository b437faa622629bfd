import type { AccountOf } from '@carillon/domain/configuration';
import type { Duration } from '@carillon/kernel';
import type { AddressGuard } from '@carillon/ports';

/** How long the adapter waits for a server before it gives up. */
export type SmtpTimeouts = {
  /** Name, TCP and, where TLS comes first, its handshake. */
  readonly connection: Duration;
  /** Until the server has greeted. */
  readonly greeting: Duration;
  /** Silence on an open connection. */
  readonly socket: Duration;
  /** The whole of one attempt, so that a server that keeps trickling cannot hold a connection for ever. */
  readonly attempt: Duration;
};
export const DEFAULT_TIMEOUTS: SmtpTimeouts = {
  connection: 10_000,
  greeting: 10_000,
  socket: 60_000,
  attempt: 150_000,
};

/** Settings of an account that one connection needs. */
export type SessionSettings = {
  readonly host: string;
  readonly port: number;
  readonly tls: NonNullable<AccountOf<'smtp'>['tls']>;
  readonly login: { readonly user: string; readonly password: string } | null;
  readonly timeouts: SmtpTimeouts;
  /** Certificates of authorities, PEM, that count besides those of the machine. */
  readonly trusted: readonly string[];
  /** Resolves the host to where we may connect. Null: the operator chose the host. */
  readonly guard: AddressGuard | null;
};

/**
 * Returns the TLS mode if `tls` is not set: port 465 uses TLS from the first byte (RFC 8314), passwords need TLS, and
 * everything else uses TLS if available. With a user, `opportunistic` from an older configuration becomes `starttls`:
 * `apply` refuses it now, because it could reveal the password on the network.
 */
export function tlsMode(account: AccountOf<'smtp'>): SessionSettings['tls'] {
  if (account.tls === 'opportunistic' && account.user !== undefined) return 'starttls';
  if (account.tls !== undefined) return account.tls;
  if (account.port === 465) return 'implicit';
  return account.user === undefined ? 'opportunistic' : 'starttls';
}

/** Texts that must never be shown. The password comes first, because it may contain the user's name. */
export const credentialsOf = ({ login }: SessionSettings): readonly string[] =>
  login === null ? [] : [login.password, login.user];
