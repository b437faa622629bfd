import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Socket } from 'node:net';

/**
 * Fault of a connection. `cut`: connections are reset, also new ones. `stall`: no bytes move in either direction until
 * `pass`; none are lost. `delay`: every piece arrives this many milliseconds late, in order.
 */
export type TcpFault = 'pass' | 'cut' | 'stall' | { readonly delay: number };

/** Stands between two programs that speak any protocol over TCP and lets the network between them misbehave. */
export type TcpProxy = {
  /** On 127.0.0.1. */
  readonly port: number;
  /** From now on, for connections that are open as well. */
  fail(fault: TcpFault): void;
  /** Resets all connections that are open; new ones pass. Answers how many there were. */
  reset(): number;
  stop(): Promise<void>;
};

type Pair = { readonly client: Socket; readonly server: Socket };

/** `port` is that of the server, on 127.0.0.1. */
export async function startTcpProxy(port: number): Promise<TcpProxy> {
  const pairs = new Set<Pair>();
  let fault: TcpFault = 'pass';

  function reset(): number {
    const open = [...pairs];
    for (const { client, server } of open) {
      client.resetAndDestroy();
      server.resetAndDestroy();
    }
    pairs.clear();
    return open.length;
  }

  /** Forwards one direction: chunks leave in order, each after its delay. */
  function forward(from: Socket, to: Socket): void {
    let before: Promise<void> = Promise.resolve();
    from.on('data', (piece: Buffer) => {
      const span = typeof fault === 'object' ? fault.delay : 0;
      const due = span === 0 ? before : Promise.all([before, elapsed(span)]).then(() => undefined);
      before = due.then(() => {
        if (to.writable && !to.write(piece)) {
          from.pause();
          to.once('drain', () => fault !== 'stall' && from.resume());
        }
      });
    });
    from.on('end', () => void before.then(() => to.end()));
  }

  function join(client: Socket): void {
    const server = connect({ port, host: '127.0.0.1', allowHalfOpen: true });
    const pair: Pair = { client, server };
    pairs.add(pair);
    for (const [socket, other] of [
      [client, server],
      [server, client],
    ] as const) {
      socket.setNoDelay(true);
      // An orderly end is passed on after the delayed bytes.
      socket.on('error', () => other.destroy());
      socket.on('close', () => {
        if (other.destroyed) pairs.delete(pair);
      });
    }
    forward(client, server);
    forward(server, client);
    if (fault === 'stall') hold(pair);
  }

  const listener = createServer({ allowHalfOpen: true }, (client) => {
    if (fault === 'cut') client.resetAndDestroy();
    else join(client);
  });
  listener.listen(0, '127.0.0.1');
  await once(listener, 'listening');

  return {
    port: (listener.address() as AddressInfo).port,
    fail(next) {
      fault = next;
      if (next === 'cut') reset();
      for (const pair of pairs) {
        if (next === 'stall') hold(pair);
        else release(pair);
      }
    },
    reset,
    async stop() {
      fault = 'cut';
      reset();
      await new Promise((resolve) => listener.close(resolve));
    },
  };
}

const elapsed = (span: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, span));

function hold({ client, server }: Pair): void {
  client.pause();
  server.pause();
}
function release({ client, server }: Pair): void {
  client.resume();
  server.resume();
}
