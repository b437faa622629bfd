import { fork } from 'node:child_process';
import { join } from 'node:path';

export type FloodOrders = {
  /** Where the events go to. */
  readonly url: string;
  readonly key: string;
  /** Begins each `order_id`, so that floods can be told apart. */
  readonly name: string;
  /** What an event says beside its `order_id`, in ASCII. */
  readonly event: Readonly<Record<string, unknown>>;
  /** All are open before the first event is sent. */
  readonly connections: number;
  /** Requests that may wait for their answers on each connection, where the pace is a number; 1 unless set. */
  readonly pipelined?: number;
  /** `closed`: on each connection one event after the other. Else so many in a second, whatever comes back. */
  readonly pace: 'closed' | { readonly perSecond: number };
};

export type FloodReport = {
  /** How often each status came, or each reason why none did. */
  readonly answers: Readonly<Record<string, number>>;
  /** Ids of the events that were taken, as often as they were. */
  readonly accepted: readonly string[];
  /** Refusals that do not say when to come again. */
  readonly unexplained: number;
  readonly sent: number;
  /** What was due while every connection had a request under way. */
  readonly unsent: number;
  /** For how long it sent. */
  readonly seconds: number;
  /** Share of that time in which its thread had something to do: it can send no more where this is 1. */
  readonly busy: number;
};

/** Clients in a process of their own. */
export type Flood = {
  /** Resolves when it sends. */
  readonly begun: Promise<void>;
  /** Sends no more; resolves when all is answered. */
  finish(): Promise<FloodReport>;
};

export function startFlood(orders: FloodOrders): Flood {
  const child = fork(join(import.meta.dirname, 'flood-process.ts'), [JSON.stringify(orders)]);
  const begun = Promise.withResolvers<void>();
  const reported = Promise.withResolvers<FloodReport>();
  const fail = (error: Error): void => {
    begun.reject(error);
    reported.reject(error);
  };
  child.on('message', (said) => (said === 'connected' ? begun.resolve() : reported.resolve(said as FloodReport)));
  child.once('error', fail);
  child.once('exit', (code) => fail(new Error(`the flood ended with ${code} and said nothing`)));
  // Looked at in `finish`; until then they must not end the process.
  begun.promise.catch(() => undefined);
  reported.promise.catch(() => undefined);
  return {
    begun: begun.promise,
    async finish() {
      await begun.promise;
      child.send('stop');
      return reported.promise;
    },
  };
}
