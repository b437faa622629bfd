import { once } from 'node:events';
import { connect, createServer, type AddressInfo } from 'node:net';
import { setTimeout as pause } from 'node:timers/promises';
import { MongoNetworkError } from 'mongodb';
import driver from 'mongodb/lib/cmap/connection.js';
import { afterEach, describe, expect, it } from 'vitest';
import { endCommandsWithTheirConnection } from '../src/ended-connections.ts';

/** Far longer than it takes; the driver would wait for ever. */
const FOR_EVER = 20_000;
const PING = [{ db: 'admin' }, { ping: 1 }] as const;

/** A driver connection to a server that accepts it, never responds, and closes it on demand. */
async function connectionToNobody() {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const accepted = once(server, 'connection');
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1');
  const [theirs] = (await accepted) as [ReturnType<typeof connect>];
  theirs.resume();
  if (socket.connecting) await once(socket, 'connect');
  const connection = new driver.Connection(socket, { id: 7, generation: 0, monitorCommands: false });
  return { socket, theirs, connection, close: () => server.close() };
}

describe('a connection of the MongoDB driver that the server closed', () => {
  endCommandsWithTheirConnection();
  const closing: (() => unknown)[] = [];
  afterEach(() => {
    for (const close of closing.splice(0)) close();
  });
  async function opened() {
    const opening = await connectionToNobody();
    closing.push(() => opening.connection.destroy(), opening.close);
    return opening;
  }
  const outcomeOf = (command: Promise<unknown>): Promise<unknown> =>
    Promise.race([command.catch((error: unknown) => error), pause(FOR_EVER, 'waits for ever', { ref: false })]);

  it('fails a command that is written before the socket reports its end', async () => {
    const { socket, theirs, connection } = await opened();
    const written = new Promise<readonly unknown[]>((resolve) => {
      // Both sides have ended: the socket is destroyed, and `close` is still to come.
      socket.once('finish', () =>
        process.nextTick(() => resolve([socket.destroyed, connection.closed, outcomeOf(connection.command(...PING))])),
      );
    });
    theirs.end();
    const [isDestroyed, isClosed, outcome] = await written;
    expect([isDestroyed, isClosed]).toEqual([true, false]);
    expect(await outcome).toBeInstanceOf(MongoNetworkError);
  });

  it('fails pending commands and later ones like the unpatched driver', async () => {
    const { theirs, connection } = await opened();
    const waiting = outcomeOf(connection.command(...PING));
    await once(theirs, 'data');
    theirs.end();
    expect(await waiting).toBeInstanceOf(MongoNetworkError);
    expect(await outcomeOf(connection.command(...PING))).toBeInstanceOf(MongoNetworkError);
  });

  it('keeps no listeners of finished commands', async () => {
    const { connection } = await opened();
    const before = connection.listenerCount('close');
    for (let at = 0; at < 3; at += 1)
      await connection.writeCommand({ toBin: async () => [Buffer.from('x')] }, { agreedCompressor: 'none' });
    expect(connection.listenerCount('close')).toBe(before);
  });
});
