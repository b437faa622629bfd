import type { LookupFunction, Socket } from 'node:net';
import type { Duration } from '@carillon/kernel';
import type { AddressGuard, GuardedAddress, OutboundFailure } from '@carillon/ports';
import { buildConnector } from 'undici';
import { REFUSED } from './address-guard.ts';
import { readAddress } from './address-ranges.ts';

/** Error of a connection that fails. The HTTP library passes it on to the caller. */
export class ConnectionRefused extends Error {
  readonly failure: OutboundFailure;
  constructor(failure: OutboundFailure, options?: { cause?: unknown }) {
    super(failure.detail, options);
    this.failure = failure;
  }
}

const PORTS: ReadonlySet<string> = new Set(['443', '8443']);
const UNLISTED: OutboundFailure = {
  reason: 'refused_address',
  detail: 'only https on port 443 or 8443 is allowed here; the operator of the deployment can list the address',
};
const UNREACHABLE: OutboundFailure = { reason: 'unreachable', detail: 'no connection could be opened' };

/**
 * Opens connections to addresses that the guard has seen, and to nothing else: the name is resolved once, every address
 * is judged, the connection goes to one of those, and where it arrived is judged again before anything is sent.
 */
export function guardedConnector(guard: AddressGuard, timeout: Duration): buildConnector.connector {
  return (options, answer) => {
    void connect(guard, timeout, options).then(
      (socket) => answer(null, socket),
      (error: unknown) => answer(error as Error, null),
    );
  };
}

async function connect(guard: AddressGuard, timeout: Duration, options: buildConnector.Options): Promise<Socket> {
  const startedAt = performance.now();
  const resolved = await within(timeout, guard.resolve(options.hostname));
  if (!resolved.ok) throw new ConnectionRefused(resolved.error);
  const port = options.port || (options.protocol === 'https:' ? '443' : '80');
  const usual = options.protocol === 'https:' && PORTS.has(port);
  if (!usual && !resolved.value.every(({ listed }) => listed)) throw new ConnectionRefused(UNLISTED);
  const left = Math.max(1, timeout - (performance.now() - startedAt));
  const open = buildConnector({ allowH2: false, timeout: left, lookup: answering(resolved.value) });
  return new Promise((settle, fail) => {
    open(options, (error, socket) => {
      if (error) return fail(new ConnectionRefused(failureOf(error), { cause: error }));
      if (arrivedAt(socket, resolved.value)) return settle(socket);
      socket.destroy();
      return fail(new ConnectionRefused(REFUSED));
    });
  });
}

/** Replaces the resolver: returns the checked addresses, whatever the name resolves to by now. */
const answering =
  (addresses: readonly GuardedAddress[]): LookupFunction =>
  (_host, { all }, callback) => {
    const [first] = addresses;
    if (all || !first) callback(null, [...addresses]);
    else callback(null, first.address, first.family);
  };

function arrivedAt({ remoteAddress = '' }: Socket, addresses: readonly GuardedAddress[]): boolean {
  const arrived = readAddress(remoteAddress)?.toString();
  return addresses.some(({ address }) => address === arrived);
}

function failureOf(error: Error & { readonly code?: string }): OutboundFailure {
  const aboutTls = /^(?:ERR_TLS|ERR_SSL|CERT_|DEPTH_ZERO|SELF_SIGNED|UNABLE_TO|HOSTNAME_MISMATCH|EPROTO)/;
  if (!aboutTls.test(error.code ?? '')) return UNREACHABLE;
  return { reason: 'tls', detail: `the TLS handshake failed (${error.code ?? ''})` };
}

async function within<T>(span: Duration, asked: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, fail) => {
    timer = setTimeout(() => fail(new ConnectionRefused(UNREACHABLE)), span);
  });
  return Promise.race([asked, late]).finally(() => clearTimeout(timer));
}
