import type { Duration } from '@carillon/kernel';

/** Limits of one server against slow, many and large requests. */
export type HttpLimits = {
  /** Maximum time for a whole request to arrive, including the body. */
  readonly requestTimeout: Duration;
  /** Maximum time for the head of a request to arrive. */
  readonly headersTimeout: Duration;
  /** Maximum idle time of a connection. */
  readonly connectionTimeout: Duration;
  /** Maximum time from the head of a request to its response. */
  readonly handlerTimeout: Duration;
  /** How often the first two are looked at. */
  readonly checkInterval: Duration;
  /** Maximum time that a connection stays open without a request. */
  readonly keepAliveTimeout: Duration;
  readonly maxRequestsPerSocket: number;
  /** Maximum concurrent requests per connection. While more have arrived, the socket is not read. */
  readonly maxUnansweredPerConnection: number;
  /** Requests of all connections that came with others in one reading and wait for their turn; beyond it the connection with the most is cut. */
  readonly maxWaitingRequests: number;
  readonly maxConnections: number;
  /** Maximum connections from one IPv4 address, or from one IPv6 /64 network. */
  readonly maxConnectionsPerAddress: number;
  readonly maxHeaderBytes: number;
  /** Maximum bytes of a body that fastify reads itself. */
  readonly maxBodyBytes: number;
};

export const HTTP_LIMITS: HttpLimits = {
  requestTimeout: 15_000,
  headersTimeout: 10_000,
  connectionTimeout: 30_000,
  handlerTimeout: 10_000,
  checkInterval: 1000,
  keepAliveTimeout: 5000,
  maxRequestsPerSocket: 1000,
  maxUnansweredPerConnection: 8,
  maxWaitingRequests: 16_384,
  maxConnections: 4096,
  maxConnectionsPerAddress: 1024,
  maxHeaderBytes: 16 * 1024,
  maxBodyBytes: 256 * 1024,
};

/** A size as people read it: `256 KiB`. */
export function formatBytes(bytes: number): string {
  if (bytes % (1024 * 1024) === 0) return `${bytes / (1024 * 1024)} MiB`;
  return bytes % 1024 === 0 ? `${bytes / 1024} KiB` : `${bytes} bytes`;
}
