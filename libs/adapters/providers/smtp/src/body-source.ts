import type { Socket } from 'node:net';
import { Readable } from 'node:stream';

const CHUNK_BYTES = 32 * 1024;
const CHECK_INTERVAL_MS = 5;

/**
 * Hands a message to the connection and knows how much of it left, which is what tells a definite failure from doubt.
 * The library asks for the first byte only after the server answered DATA with 354, and writes the final dot only
 * after this stream ended. So that a connection lost in the midst of a body stays a definite failure, the end is held
 * back until everything before it was taken by the operating system.
 */
export class BodySource extends Readable {
  /** The server asked for the message: from here on an abort comes too late. */
  begun = false;
  /** The final dot is being written, or was: from here on only a reply can tell. */
  consumed = false;
  #offset = 0;
  readonly #bytes: Buffer;
  readonly #socket: Socket;
  readonly #invited: () => boolean;

  /** `invited` tells whether the last reply was the 354 that asks for a message. */
  constructor(bytes: Buffer, socket: Socket, invited: () => boolean) {
    super({ highWaterMark: CHUNK_BYTES });
    this.#bytes = bytes;
    this.#socket = socket;
    this.#invited = invited;
  }

  override _read(): void {
    if (!this.begun && !this.#invited()) {
      // The library takes 250 for 354. From a server that says too much, that may be the answer to an earlier command,
      // and the next one would then pass for the answer to the message.
      this.destroy(new Error('no 354'));
      return;
    }
    this.begun = true;
    if (this.#offset < this.#bytes.length) {
      const chunk = this.#bytes.subarray(this.#offset, this.#offset + CHUNK_BYTES);
      this.#offset += chunk.length;
      this.push(chunk);
      return;
    }
    this.#endWhenTaken(false);
  }

  /** Two quiet turns in a row: what waits in streams between here and the socket moves on within one. */
  #endWhenTaken(quiet: boolean): void {
    setImmediate(() => {
      if (this.destroyed) return;
      if (this.#socket.writableLength > 0) {
        // `drain` is not promised for less than a full buffer, so look again; the socket's time-out ends the wait.
        setTimeout(() => this.#endWhenTaken(false), CHECK_INTERVAL_MS);
        return;
      }
      if (!quiet) return this.#endWhenTaken(true);
      this.consumed = true;
      this.push(null);
    });
  }
}
