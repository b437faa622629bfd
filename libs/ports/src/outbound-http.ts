import type { Duration, Result } from '@carillon/kernel';

/**
 * Why no readable response arrived. `refused_address`: the guard refuses to connect to the address. `unresolved`: the
 * name resolves to no address, or only to refused ones; callers cannot distinguish the two.
 */
export type OutboundFailure = {
  readonly reason:
    | 'refused_address'
    | 'unresolved'
    | 'unreachable'
    | 'tls'
    | 'timeout'
    | 'too_large'
    | 'no_room'
    | 'broken'
    | 'stopped';
  /** Text for the tenant who entered the address. It reveals nothing about hosts behind the guard. */
  readonly detail: string;
};

/** An address that may be connected to. */
export type GuardedAddress = {
  readonly address: string;
  readonly family: 4 | 6;
  /** The deployment lists it: it may be private, and reached in the clear and on any port. */
  readonly listed: boolean;
  /** On the internet, also if the deployment lists it. */
  readonly isPublic: boolean;
};

/**
 * Decides where we connect to when a tenant names the host (docs/internals/provider-outcomes.md). Public addresses may be connected
 * to; all others only where the deployment's configuration lists them.
 */
export type AddressGuard = {
  /**
   * The addresses of a host name or of an address in text. All of them are allowed, or the host is refused. Whoever asks
   * connects to one of these and never resolves the name again: it may say something else a moment later.
   */
  resolve(host: string): Promise<Result<readonly GuardedAddress[], OutboundFailure>>;
};

export type OutboundRequest = {
  readonly method: 'GET' | 'POST';
  /** `https:` on port 443 or 8443; with `http:` or another port only to addresses that the deployment lists. */
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
  /** Largest answer, as it comes and after decompression. */
  readonly maxBytes: number;
  /** Maximum time for name resolution, connection and TLS together. */
  readonly connectTimeout: Duration;
  /** Maximum time of the whole request, to the last byte of the response. */
  readonly totalTimeout: Duration;
  /** Ends the request as `stopped`. */
  readonly signal?: AbortSignal;
  /** Asked before each piece of the answer is kept; false ends the request as `no_room`. Left out: there is room. */
  readonly room?: (bytes: number) => boolean;
};

/** Any status, redirects too: they are never followed. Names of headers are lower case. */
export type OutboundAnswer = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
};

/** HTTP to addresses that tenants name: partners, key sets. One call is one request; it never throws for what others do. */
export type OutboundHttp = {
  request(request: OutboundRequest): Promise<Result<OutboundAnswer, OutboundFailure>>;
  /** Ends idle connections, and requests under way as `stopped`. */
  close(): Promise<void>;
};
