// Types for the internals of the pinned MongoDB driver that this adapter uses (docs/decisions/0022).
declare module 'mongodb/lib/cmap/connection.js' {
  import type { EventEmitter } from 'node:events';
  import type { Socket } from 'node:net';

  /** One connection to one server, of the pool or of the monitor. It says `close` once: when its socket fails, times out or has closed, or it is destroyed. */
  export class Connection extends EventEmitter {
    constructor(socket: Socket, options: Readonly<Record<string, unknown>>);
    /** Set right before it says `close`, as is the error. */
    readonly closed: boolean;
    /** What it was closed for. */
    readonly error: Error | null;
    writeCommand(command: unknown, options: unknown): Promise<void>;
    command(namespace: unknown, command: Readonly<Record<string, unknown>>): Promise<unknown>;
    destroy(): void;
  }
}
