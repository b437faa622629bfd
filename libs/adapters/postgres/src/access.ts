import type { AddressGuard } from '@carillon/ports';

export type Timing = {
  /** Milliseconds that a new slot waits for open transactions, and a table for its lock. */
  readonly lockTimeoutMs: number;
  /** Milliseconds that the server may take for the answer to a statement or command. */
  readonly answerMs: number;
  /** Milliseconds between two reports of the durable position to the server. Shorter if the server's `wal_sender_timeout` asks for it. */
  readonly statusMs: number;
  /** Milliseconds of silence after which the connection counts as lost. */
  readonly silenceMs: number;
  /** Milliseconds after which a position without changes is saved. */
  readonly idleMs: number;
  /** Milliseconds for which a slot may stay in use after its reader was closed. */
  readonly releaseMs: number;
  /** Milliseconds between two looks at the tables and the lag. */
  readonly reportMs: number;
};

export const DEFAULT_TIMING: Timing = {
  lockTimeoutMs: 10_000,
  answerMs: 35_000,
  statusMs: 5_000,
  silenceMs: 60_000,
  idleMs: 10_000,
  releaseMs: 2_000,
  reportMs: 5_000,
};

/** How databases are reached. */
export type Access = { readonly guard: AddressGuard; readonly timing: Timing };
