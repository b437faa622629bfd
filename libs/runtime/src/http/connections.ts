import type { RequestListener, Server, ServerResponse } from 'node:http';
import { isIPv6, type Socket } from 'node:net';
import type { HttpLimits } from './http-limits.ts';

/** Why a connection was cut: there were too many of them, or too much came on it before anything was answered. */
export type CutReason = 'connections' | 'pipelined';

type Connection = {
  readonly socket: Socket;
  readonly neighbours: Neighbours;
  /** Requests that are worked on. */
  unanswered: number;
  /** Requests from the same read that wait, in order. */
  readonly waiting: (() => void)[];
  newest: ServerResponse | undefined;
  closed: boolean;
};

/** The connections of one address. */
type Neighbours = {
  count: number;
  /** Connections without a running request, longest idle first. */
  readonly idle: Set<Connection>;
};

export type Connections = {
  /** The handler of requests, called with a handful of each connection at a time. */
  gate(handler: RequestListener): RequestListener;
  /** Counts and bounds the connections of a server. */
  watch(server: Server): void;
  /** The newest answer on a connection. */
  newestAnswer(socket: Socket): ServerResponse | undefined;
  /** Resolves when no request is under way. */
  quiet(): Promise<void>;
};

type Bounds = Pick<
  HttpLimits,
  'maxConnections' | 'maxConnectionsPerAddress' | 'maxUnansweredPerConnection' | 'maxWaitingRequests'
>;

/**
 * Shares the server among connections. Per connection a few requests run concurrently; further requests from the same
 * read wait, and reading pauses meanwhile. One waiting request over all connections starts per tick of the event loop.
 * If an address or the server has its maximum of connections, the longest idle one is closed for a new one; without an
 * idle one, the new one is closed.
 */
export function createConnections(bounds: Bounds, cut: (reason: CutReason) => void): Connections {
  const requests = createRequests(bounds, cut);
  const known = new WeakMap<Socket, Connection>();
  const addresses = new Map<string, Neighbours>();
  let open = 0;

  function close(address: string, connection: Connection): void {
    const { socket, neighbours } = connection;
    known.delete(socket);
    open -= 1;
    neighbours.count -= 1;
    neighbours.idle.delete(connection);
    if (neighbours.count === 0) addresses.delete(address);
    requests.forget(connection);
  }

  function makeRoom(neighbours: Neighbours): boolean {
    const full = open >= bounds.maxConnections;
    if (neighbours.count < bounds.maxConnectionsPerAddress && !full) return true;
    const crowd = full ? mostOf(addresses.values(), neighbours) : neighbours;
    const [longest] = crowd.idle;
    cut('connections');
    // The connection counts until it has closed, and must not be chosen twice.
    if (longest) crowd.idle.delete(longest);
    longest?.socket.destroy();
    return longest !== undefined;
  }

  function take(socket: Socket): void {
    const address = sourceOf(socket.remoteAddress);
    const neighbours = addresses.get(address) ?? { count: 0, idle: new Set() };
    if (!makeRoom(neighbours)) {
      socket.destroy();
      return;
    }
    const connection: Connection = {
      socket,
      neighbours,
      unanswered: 0,
      waiting: [],
      newest: undefined,
      closed: false,
    };
    known.set(socket, connection);
    addresses.set(address, neighbours);
    open += 1;
    neighbours.count += 1;
    neighbours.idle.add(connection);
    // Reading the body of a request, and writing an answer, both set the socket going again.
    socket.on('resume', () => {
      if (connection.waiting.length > 0) socket.pause();
    });
    socket.once('close', () => close(address, connection));
  }

  return {
    gate: (handler) => (request, response) => {
      const connection = known.get(request.socket);
      if (connection && !request.socket.destroyed) {
        requests.take(connection, response, () => handler(request, response));
      }
    },
    watch(server) {
      // Above our own bound, which makes room instead of refusing; this one holds where connections close slowly.
      server.maxConnections = bounds.maxConnections + Math.ceil(bounds.maxConnections / 16);
      server.on('drop', () => cut('connections'));
      server.on('connection', take);
    },
    newestAnswer: (socket) => known.get(socket)?.newest,
    quiet: () => requests.quiet(),
  };
}

/** The requests of all connections: at most a handful of each is worked on, and the others wait. */
function createRequests(bounds: Bounds, cut: (reason: CutReason) => void) {
  /** Connections with requests that wait. */
  const pausing = new Set<Connection>();
  const turns = createRequestTurns(bounds, {
    begun: () => (waiting -= 1),
    emptied: (connection) => pausing.delete(connection),
  });
  const quietCallers: (() => void)[] = [];
  let waiting = 0;
  let underWay = 0;

  function ended(count: number): void {
    underWay -= count;
    if (count > 0 && underWay === 0) for (const resume of quietCallers.splice(0)) resume();
  }

  function answered(connection: Connection): void {
    // Running requests of a closed connection are counted when it closes.
    if (connection.closed) return;
    connection.unanswered -= 1;
    ended(1);
    if (connection.waiting.length > 0) turns.queue(connection);
    else if (connection.unanswered === 0) connection.neighbours.idle.add(connection);
  }

  function begin(connection: Connection, response: ServerResponse, handle: () => void): void {
    connection.unanswered += 1;
    connection.newest = response;
    connection.neighbours.idle.delete(connection);
    response.on('close', () => answered(connection));
    handle();
  }

  function hold(connection: Connection, start: () => void): void {
    waiting += 1;
    connection.waiting.push(start);
    pausing.add(connection);
    connection.socket.pause();
    if (waiting <= bounds.maxWaitingRequests) return;
    cut('pipelined');
    const most = [...pausing].reduce((a, b) => (b.waiting.length > a.waiting.length ? b : a), connection);
    most.socket.destroy();
    forgetWaiting(most);
  }

  function forgetWaiting(connection: Connection): void {
    const left = connection.waiting.splice(0).length;
    pausing.delete(connection);
    turns.leave(connection);
    waiting -= left;
    ended(left);
  }

  return {
    take(connection: Connection, response: ServerResponse, handle: () => void): void {
      underWay += 1;
      const start = (): void => begin(connection, response, handle);
      const full = connection.unanswered >= bounds.maxUnansweredPerConnection;
      if (full || connection.waiting.length > 0) hold(connection, start);
      else start();
    },
    /** A connection closed, with all its requests. */
    forget(connection: Connection): void {
      connection.closed = true;
      forgetWaiting(connection);
      ended(connection.unanswered);
    },
    quiet: (): Promise<void> =>
      underWay === 0 ? Promise.resolve() : new Promise((resolve) => quietCallers.push(resolve)),
  };
}

/**
 * Starts one waiting request per tick of the event loop. Connections with many requests alternate with each other and
 * with all others, so that at most one of their requests runs between two steps of another client's request.
 */
function createRequestTurns(
  bounds: Bounds,
  { begun, emptied }: { readonly begun: () => void; readonly emptied: (connection: Connection) => void },
) {
  /** Connections whose next request may begin, in the order of their turns. */
  const ready = new Set<Connection>();
  let turnAsked = false;

  function queue(connection: Connection): void {
    ready.add(connection);
    if (turnAsked) return;
    turnAsked = true;
    setImmediate(takeTurn);
  }

  function takeTurn(): void {
    turnAsked = false;
    const [connection] = ready;
    if (!connection) return;
    ready.delete(connection);
    const next = connection.unanswered < bounds.maxUnansweredPerConnection ? connection.waiting.shift() : undefined;
    if (next) {
      begun();
      next();
    }
    if (connection.waiting.length === 0) {
      emptied(connection);
      connection.socket.resume();
    } else if (connection.unanswered < bounds.maxUnansweredPerConnection) ready.add(connection);
    const [another] = ready;
    if (another) queue(another);
  }

  return { queue, leave: (connection: Connection): void => void ready.delete(connection) };
}

/** The address with the most connections; `first` where none has more. */
function mostOf(all: Iterable<Neighbours>, first: Neighbours): Neighbours {
  let most = first;
  for (const one of all) if (one.count > most.count) most = one;
  return most;
}

/**
 * Returns the owner of an address: one IPv4 address, or a 64-bit network of IPv6, because every client has at least
 * that many IPv6 addresses.
 */
export function sourceOf(address = ''): string {
  const plain = address.startsWith('::ffff:') ? address.slice(7) : address;
  if (!isIPv6(plain)) return plain;
  const [head = '', tail] = plain.split('::');
  const groups = head.split(':').filter(Boolean);
  const missing = tail === undefined ? 0 : 8 - groups.length - tail.split(':').filter(Boolean).length;
  const whole = [...groups, ...Array.from({ length: missing }, () => '0'), ...(tail ?? '').split(':')];
  return whole.slice(0, 4).join(':');
}
