import type { Duration } from '@carillon/kernel';

/** Bounds of one server against slow, many and large. */
export type HttpLimits = {
  /** For a whole request to arrive, body included. */
  readonly requestTimeout: Duration;
  /** For the head of a request to arrive. */
  readonly headersTimeout: Duration;
  /** Maximum idle time of a connection. */
  readonly connectionTimeout: Duration;
  /** From the head of a request to its answer. */
  readonly handlerTimeout: Duration;
  /** How often the first two are looked at. */
  readonly checkInterval: Duration;
  /** For a connection on which no request is under way. */
  readonly keepAliveTimeout: Duration;
  readonly maxRequestsPerSocket: number;
  /** Requests of one connection that are worked on at once; while more have come, its socket is not read. */
  readonly maxUnansweredPerConnection: number;
  /** Requests of all connections that came with others in one reading and wait for their turn; beyond it the connection with the most is cut. */
  readonly maxWaitingRequests: number;
  readonly maxConnections: number;
  /** From one IPv4 address, or from one IPv6 network of 64 bits. */
  readonly maxConnectionsPerAddress: number;
  readonly maxHeaderBytes: number;
  /** For a body that fastify reads itself. */
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
