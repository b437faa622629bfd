import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';
import { freePorts } from '@carillon/testing/services';

/** A proxy between a client and a server that forwards requests and drops responses, or is unavailable. */
export type CuttingProxy = {
  readonly port: number;
  /** How often the answer to a write is lost: it is dropped and the connection cut, after the server did the work. */
  readonly loseAnswers: (share: number) => void;
  readonly lost: () => number;
  /** Cuts every connection and takes none. */
  readonly goAway: () => Promise<void>;
  readonly comeBack: () => Promise<void>;
  close(): Promise<void>;
};

export async function startCuttingProxy(target: {
  readonly host: string;
  readonly port: number;
}): Promise<CuttingProxy> {
  const open = new Set<Socket>();
  let share = 0;
  let lost = 0;
  const server = createServer((client) => {
    const upstream = connect(target.port, target.host);
    const cut = (): void => {
      client.destroy();
      upstream.destroy();
    };
    for (const socket of [client, upstream]) {
      open.add(socket);
      socket.on('error', cut);
      socket.on('close', () => {
        open.delete(socket);
        cut();
      });
    }
    let wrote = false;
    client.on('data', (bytes) => {
      wrote = bytes.includes('insert') || bytes.includes('update');
      upstream.write(bytes);
    });
    upstream.on('data', (bytes) => {
      if (wrote && Math.random() < share) {
        lost += 1;
        cut();
      } else client.write(bytes);
    });
  });
  const listen = async (port: number): Promise<void> => {
    server.listen(port, '127.0.0.1');
    await once(server, 'listening');
  };
  // A port that no other process takes while the proxy is down.
  const [port = 0] = await freePorts(1);
  await listen(port);
  const goAway = async (): Promise<void> => {
    const closed = once(server, 'close');
    server.close();
    for (const socket of open) socket.destroy();
    await closed;
  };
  return {
    port,
    loseAnswers(next) {
      share = next;
    },
    lost: () => lost,
    goAway,
    comeBack: () => listen(port),
    async close() {
      if (server.listening) await goAway();
    },
  };
}
