import type { Socket } from 'node:net';
import { messageOf } from '@carillon/kernel';
import connectionClass from 'kafkajs/src/network/connection.js';

/** A connection of kafkajs: it outlives its sockets, and sets one up anew whenever it is asked for and has none. */
export type ReusedConnection = {
  socket?: Socket;
  connect(): Promise<unknown>;
  processData(bytes: Buffer): void;
  /** Unread bytes. Empty while only complete responses arrive. */
  chunks: Buffer[];
  /** Set while it signs in. A broker older than 1.0 then sends bytes without an answer's form. */
  readonly authHandlers: object | null;
  readonly authExpectResponse: boolean;
};

/** Bytes of the length that stands before each answer, and of the number of its request, which the length counts. */
const LENGTH = 4;
const NUMBER = 4;
/** Far more than any answer to our requests. What says it is longer is no answer of a broker. */
const MAX_RESPONSE_BYTES = 256 * 1024 * 1024;

const limits = new WeakMap<Socket, number>();

/** Ends the socket if an answer says that it is longer. Called before the socket's first byte. */
export const limitAnswers = (socket: Socket, maxBytes: number): void => void limits.set(socket, maxBytes);

let whole = false;

/**
 * Fixes response parsing of kafkajs 2.2.4. It keeps a partial response when a connection ends and parses the next
 * socket's bytes as its rest. Requests then time out, exceptions go uncaught, or random bytes match a request id. With
 * this patch, in this process:
 * - each socket is parsed from its first byte, response by response;
 * - late bytes of an earlier socket are dropped;
 * - invalid bytes close their socket and fail its requests, never the process.
 * A response therefore only confirms the request whose id the broker wrote. Ids increase over all sockets of a
 * connection, so they are never reused. Patches once per process.
 */
export function readWholeAnswers(): void {
  if (whole) return;
  whole = true;
  const { prototype } = connectionClass as { readonly prototype: ReusedConnection };
  // oxlint-disable-next-line typescript/unbound-method -- called with the connection that it is asked of
  prototype.connect = connectAnew(prototype.connect);
}

/**
 * Wraps kafkajs' `connect`, which sets `socket` and adds the socket's listeners before it returns. Exported for the
 * test, which compares the wrapped `connect` with the original.
 */
export function connectAnew(connect: (this: ReusedConnection) => Promise<unknown>): ReusedConnection['connect'] {
  return function connectWithNothingLeft(this: ReusedConnection): Promise<unknown> {
    const before = this.socket;
    const connecting = connect.call(this);
    const { socket } = this;
    if (socket !== undefined && socket !== before) readFromItsFirstByte(this, socket);
    return connecting;
  };
}

function readFromItsFirstByte(connection: ReusedConnection, socket: Socket): void {
  const answersIn = createAnswers(limits.get(socket) ?? MAX_RESPONSE_BYTES);
  const read = (bytes: Buffer): void => {
    connection.chunks = [];
    connection.processData(bytes);
  };
  socket.removeAllListeners('data');
  socket.on('data', (bytes: Buffer) => {
    if (connection.socket !== socket || socket.destroyed) return;
    try {
      if (connection.authHandlers !== null && !connection.authExpectResponse) read(bytes);
      else for (const answer of answersIn(bytes)) read(answer);
    } catch (cause) {
      socket.destroy(
        new Error(`the response of the broker does not follow the Kafka protocol: ${messageOf(cause)}`, { cause }),
      );
    }
  });
}

/** Splits the bytes of a socket into length-prefixed responses. Throws for an impossible length. */
function createAnswers(maxBytes: number): (bytes: Buffer) => readonly Buffer[] {
  let pieces: Buffer[] = [];
  let held = 0;
  let needed = LENGTH;
  return (bytes) => {
    pieces.push(bytes);
    held += bytes.length;
    if (held < needed) return [];
    let rest = pieces.length === 1 ? bytes : Buffer.concat(pieces);
    const answers: Buffer[] = [];
    for (needed = LENGTH; rest.length >= needed; needed = LENGTH) {
      const length = rest.readInt32BE(0);
      if (length < NUMBER || length > maxBytes) throw new RangeError(`it announces ${length} bytes`);
      needed = LENGTH + length;
      if (rest.length < needed) break;
      answers.push(rest.subarray(0, needed));
      rest = rest.subarray(needed);
    }
    pieces = rest.length === 0 ? [] : [rest];
    held = rest.length;
    return answers;
  };
}
