import { Worker } from 'node:worker_threads';

import type { Rendered } from '@carillon/ports';
import { messageOf } from '@carillon/kernel';

import { tooSlow } from './run.ts';
import { LIMITS } from './limits.ts';
import { clockMs, newProgress, readProgress, type Progress } from './progress.ts';
import type { Answer, Order, WorkerData } from './protocol.ts';

export type PoolOptions = {
  readonly workers: number;
  /** Hears when a worker had to be ended: a count of these belongs in the metrics. */
  readonly onStopped: (message: string) => void;
};

/** Result of an order, with the plan of its template if one was requested and the template could be read. */
export type Outcome = Omit<Answer, 'job'>;
type Job = {
  readonly order: Order;
  readonly resolve: (outcome: Outcome) => void;
  readonly reject: (error: Error) => void;
};
type Seat = {
  readonly worker: Worker;
  readonly progress: SharedArrayBuffer;
  readonly startedAt: number;
  /** Given to it and not answered, in order. */
  readonly jobs: Job[];
  online: boolean;
  judging: boolean;
};

/** How many orders lie ready at a worker, so that it need not wait for the main thread between them. */
const AHEAD = 4;
/** How often the main thread looks at what the workers are doing, in milliseconds. */
const CHECK_INTERVAL_MS = 25;
/** Milliseconds beyond its limit after which a thread is stopped that does not report its processor time. */
const SILENT_MS = 10_000;
/** A worker that has not come up by then never will, in milliseconds. */
const START_MS = 60_000;
/** Heap for compiled templates (LIMITS.cache), the context and what is being made. */
const RESOURCES = { maxOldGenerationSizeMb: 192, maxYoungGenerationSizeMb: 16, stackSizeMb: 4 } as const;

/** The source as it stands in a checkout, or what a bundle made of it (tools/bundle.ts). */
const workerEntry = (): URL =>
  import.meta.url.endsWith('.ts')
    ? new URL('./worker.ts', import.meta.url)
    : new URL('./template-worker.js', import.meta.url);

/**
 * Worker threads that render. An order that hangs or eats the memory ends with its worker; orders that wait behind it go
 * to the next one. Workers start at need and do not keep the process alive while nothing is asked of them.
 */
export class Pool {
  readonly #options: PoolOptions;
  readonly #waiting: Job[] = [];
  readonly #seats = new Set<Seat>();
  #jobs = 0;
  #closed = false;
  #looking: NodeJS.Timeout | undefined;
  #drained: (() => void)[] = [];

  constructor(options: PoolOptions) {
    this.#options = options;
  }

  /** Rejects only where rendering as such is not possible: closed, or no worker can be started. */
  run(work: Omit<Order, 'job'>): Promise<Outcome> {
    if (this.#closed) return Promise.reject(new Error('the template renderer is closed'));
    return new Promise((resolve, reject) => {
      this.#jobs += 1;
      this.#waiting.push({ order: { ...work, job: this.#jobs }, resolve, reject });
      this.#deal();
    });
  }

  /** Takes no more orders, finishes those it has (each has its bound), and ends the workers. */
  async close(): Promise<void> {
    this.#closed = true;
    if (this.#busy) await new Promise<void>((resolve) => this.#drained.push(resolve));
    clearInterval(this.#looking);
    const seats = [...this.#seats];
    this.#seats.clear();
    await Promise.all(seats.map((seat) => seat.worker.terminate()));
  }

  get #busy(): boolean {
    return this.#waiting.length > 0 || [...this.#seats].some((seat) => seat.jobs.length > 0);
  }

  /** Gives waiting orders to whoever has the fewest. A second worker starts only when the first has all it can take. */
  #deal(): void {
    while (this.#waiting.length > 0) {
      let seat = [...this.#seats].toSorted((a, b) => a.jobs.length - b.jobs.length)[0];
      if (seat === undefined || (seat.jobs.length > 0 && this.#seats.size < this.#options.workers))
        seat = this.#start();
      if (seat.jobs.length >= AHEAD) break;
      this.#give(seat, this.#waiting.shift() as Job);
    }
    if (!this.#busy) for (const resolve of this.#drained.splice(0)) resolve();
  }

  #give(seat: Seat, job: Job): void {
    try {
      // oxlint-disable-next-line unicorn/require-post-message-target-origin -- that is for windows, this is a thread
      seat.worker.postMessage(job.order);
    } catch (error) {
      // What cannot be copied to another thread is not JSON.
      const message = `The data cannot be read: ${messageOf(error).slice(0, 200)}`;
      job.resolve({ rendered: { ok: false, part: 'context', message }, plan: undefined });
      return;
    }
    if (seat.jobs.push(job) === 1) seat.worker.ref();
    this.#looking ??= setInterval(() => this.#look(), CHECK_INTERVAL_MS);
  }

  #start(): Seat {
    const progress = newProgress();
    const workerData: WorkerData = { progress };
    const worker = new Worker(workerEntry(), {
      workerData,
      resourceLimits: RESOURCES,
      // A template that broke out would find no secrets in the environment.
      env: {},
      execArgv: [],
      name: 'templates',
    });
    const seat: Seat = { worker, progress, startedAt: clockMs(), jobs: [], online: false, judging: false };
    worker.unref();
    worker.once('online', () => (seat.online = true));
    worker.on('message', (answer: Answer) => this.#answered(seat, answer));
    worker.once('error', (error: unknown) => this.#ended(seat, error));
    worker.once('exit', (code) => this.#ended(seat, new Error(`the worker ended with code ${code}`)));
    this.#seats.add(seat);
    return seat;
  }

  #answered(seat: Seat, { job, ...outcome }: Answer): void {
    const [next] = seat.jobs;
    if (!this.#seats.has(seat) || next?.order.job !== job) return;
    seat.jobs.shift();
    if (seat.jobs.length === 0) seat.worker.unref();
    next.resolve(outcome);
    this.#deal();
    this.#rest();
  }

  #rest(): void {
    if (this.#busy) return;
    clearInterval(this.#looking);
    this.#looking = undefined;
  }

  /** Looks for workers that are over the time of what they are doing. */
  #look(): void {
    for (const seat of this.#seats) {
      if (seat.jobs.length === 0 || seat.judging) continue;
      const seen = readProgress(seat.progress);
      if (!seat.online && clockMs() - seat.startedAt > START_MS) {
        this.#ended(seat, new Error('the worker did not start'));
      } else if (seen.phase !== 'idle' && clockMs() - seen.clockMs > limitOf(seen)) {
        seat.judging = true;
        void this.#judge(seat, seen).finally(() => (seat.judging = false));
      }
    }
  }

  /**
   * Stops a worker whose job takes too long by the wall clock, but only if the job also used the processor that long.
   * On a busy machine a job may only have waited.
   */
  async #judge(seat: Seat, seen: Progress): Promise<void> {
    const limit = limitOf(seen);
    const used = await cpuMs(seat.worker);
    const now = readProgress(seat.progress);
    if (!this.#seats.has(seat) || now.phase !== seen.phase || now.job !== seen.job) return;
    const worked = used === undefined ? undefined : used - seen.cpuMs;
    if (!isToBlame(limit, clockMs() - seen.clockMs, worked)) return;
    this.#stop(seat, now, tooSlow(now.phase === 'compile' ? 'compiling' : 'rendering', limit));
  }

  /** Ends a worker for what it is doing now. */
  #stop(seat: Seat, seen: Progress, message: string): void {
    const culprit = seat.jobs.find((job) => job.order.job === seen.job);
    this.#blame(seat, culprit, { ok: false, part: culprit?.order.sheet.parts[seen.part]?.name ?? 'template', message });
  }

  /** A worker is gone by itself: out of memory, or it never came up. */
  #ended(seat: Seat, error: unknown): void {
    if (!this.#seats.has(seat)) return;
    const seen = readProgress(seat.progress);
    const message = `Stopped: ${messageOf(error).slice(0, 200)}`;
    if (seen.phase !== 'idle') return this.#stop(seat, seen, message);
    if (seat.online) {
      // Between two orders: it was reading the next.
      const culprit = seat.jobs.find((job) => job.order.job > seen.job);
      return this.#blame(seat, culprit, { ok: false, part: 'context', message });
    }
    const failure = new Error('no template worker could be started', { cause: error });
    for (const job of seat.jobs.splice(0)) job.reject(failure);
    this.#blame(seat, undefined, { ok: false, part: 'context', message });
  }

  /** Takes a worker out. The order that it ended with fails; all others that it held wait again, in front. */
  #blame(seat: Seat, culprit: Job | undefined, rendered: Rendered & { ok: false }): void {
    this.#seats.delete(seat);
    this.#options.onStopped(rendered.message);
    void seat.worker.terminate();
    this.#waiting.unshift(...seat.jobs.filter((job) => job !== culprit));
    seat.jobs.length = 0;
    culprit?.resolve({ rendered, plan: undefined });
    this.#deal();
    this.#rest();
  }
}

const limitOf = ({ phase }: Progress): number => (phase === 'compile' ? LIMITS.compileMs : LIMITS.renderMs);

/**
 * Returns true if a job that took `passed` ms by the clock and `worked` ms of processor time is over its limit. Clock
 * time alone does not count, because on a busy machine it would fail correct messages. A thread that reports no
 * processor time is in native code or starved, and gets some extra time.
 */
export const isToBlame = (limit: number, passed: number, worked: number | undefined): boolean =>
  worked === undefined ? passed >= limit + SILENT_MS : worked >= limit;

/** Thread time that a worker has used, in milliseconds; undefined if it does not say. */
async function cpuMs(worker: Worker): Promise<number | undefined> {
  const silence = new Promise<undefined>((resolve) => setTimeout(resolve, 100, undefined));
  const asked = worker.cpuUsage().then(
    (used) => (used.user + used.system) / 1000,
    () => undefined,
  );
  return Promise.race([asked, silence]);
}
