import { err, ok, type Duration, type Result } from '@carillon/kernel';
import { type SmtpFailure, stopped } from './failure.ts';
import type { SmtpSession } from './session.ts';

export type PoolLimits = {
  /** Connections at once: what the account allows. */
  readonly connections: number;
  /** How long one is kept without work. Short, so that servers seldom close one under us. */
  readonly idle: Duration;
  /** Messages over one connection; many servers allow a hundred. */
  readonly messages: number;
};

type Waiter = { readonly grant: () => void };

/**
 * Keeps connections open between messages, with at most as many as the account allows. A caller holds a connection
 * until it returns it; without a free one, callers queue.
 */
export class SessionPool {
  readonly #limits: PoolLimits;
  readonly #open: (stop: AbortSignal) => Promise<Result<SmtpSession, SmtpFailure>>;
  readonly #idle = new Map<SmtpSession, NodeJS.Timeout>();
  readonly #waiting = new Set<Waiter>();
  readonly #farewells = new Set<Promise<void>>();
  #taken = 0;
  #closed = false;
  #emptied: (() => void) | null = null;
  #closing: Promise<void> | null = null;

  constructor(limits: PoolLimits, open: (stop: AbortSignal) => Promise<Result<SmtpSession, SmtpFailure>>) {
    this.#limits = limits;
    this.#open = open;
  }

  /** A connection that was kept, else a new one. Every success is given back exactly once. */
  async take(stop: AbortSignal): Promise<Result<SmtpSession, SmtpFailure>> {
    if (!(await this.#place(stop))) return err(stopped('connect'));
    for (const session of [...this.#idle.keys()].toReversed()) {
      this.#forget(session);
      if (session.alive) return ok(session);
      session.destroy();
    }
    return this.#opened(stop);
  }

  /** Replaces a connection that died while idle. All idle ones are closed, because they are as old. */
  async replace(stop: AbortSignal): Promise<Result<SmtpSession, SmtpFailure>> {
    for (const session of this.#idle.keys()) {
      this.#forget(session);
      session.destroy();
    }
    return this.#opened(stop);
  }

  async #opened(stop: AbortSignal): Promise<Result<SmtpSession, SmtpFailure>> {
    const opened = await this.#open(stop);
    if (!opened.ok) this.#leave();
    else opened.value.onEnd(() => this.#forget(opened.value));
    return opened;
  }

  give(session: SmtpSession): void {
    if (session.alive && !this.#closed && session.served < this.#limits.messages) {
      const timer = setTimeout(() => this.#dismiss(session), this.#limits.idle);
      timer.unref();
      this.#idle.set(session, timer);
    } else this.#dismiss(session);
    this.#leave();
  }

  /** Takes no more work, lets what is under way end, and says goodbye to the servers. The second call is the first. */
  close(): Promise<void> {
    this.#closing ??= this.#shut();
    return this.#closing;
  }

  async #shut(): Promise<void> {
    this.#closed = true;
    for (const waiter of this.#waiting) waiter.grant();
    for (const session of this.#idle.keys()) this.#dismiss(session);
    if (this.#taken > 0) {
      await new Promise<void>((settle) => {
        this.#emptied = settle;
      });
    }
    await Promise.all(this.#farewells);
  }

  /** Removes a connection from the idle ones. */
  #forget(session: SmtpSession): void {
    clearTimeout(this.#idle.get(session));
    this.#idle.delete(session);
  }

  #dismiss(session: SmtpSession): void {
    this.#forget(session);
    const farewell = session.quit().finally(() => this.#farewells.delete(farewell));
    this.#farewells.add(farewell);
  }

  /** Takes a place, after those who asked before. False: stopped or closed while waiting. */
  #place(stop: AbortSignal): Promise<boolean> {
    if (this.#closed || stop.aborted) return Promise.resolve(false);
    if (this.#taken < this.#limits.connections) {
      this.#taken += 1;
      return Promise.resolve(true);
    }
    return new Promise((settle) => {
      const leaveLine = (granted: boolean): void => {
        this.#waiting.delete(waiter);
        stop.removeEventListener('abort', onStop);
        settle(granted);
      };
      const onStop = (): void => leaveLine(false);
      const waiter: Waiter = { grant: () => leaveLine(!this.#closed) };
      this.#waiting.add(waiter);
      stop.addEventListener('abort', onStop, { once: true });
    });
  }

  /** Gives the caller's slot in the pool to the next waiting caller, or frees the slot. */
  #leave(): void {
    const [next] = this.#waiting;
    if (next && !this.#closed) return next.grant();
    this.#taken -= 1;
    if (this.#taken === 0) this.#emptied?.();
  }
}
