import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { startGuarded, type GuardedProcess, type Launch } from './guarded-process.ts';
import { lastLines } from './run-command.ts';

export type ServiceProcessOptions = {
  readonly name: string;
  readonly launch: Launch;
  /** Asked again and again after the start. A rejection means: not yet. */
  readonly isReady: () => Promise<boolean>;
  /** The signal that ends it in good order; SIGTERM unless told. */
  readonly stopSignal?: NodeJS.Signals;
  /** How often to start it again when it ends before it is ready; 1 unless told. */
  readonly attempts?: number;
};

/** A bound against standing still: on a busy machine a role takes minutes. */
const READY_WITHIN = 300_000;
const STOP_WITHIN = 20_000;

/** Signals that the process survives. */
const LETS_LIVE: readonly NodeJS.Signals[] = ['SIGSTOP', 'SIGCONT', 'SIGHUP', 'SIGUSR1', 'SIGUSR2'];

/** Returns true if all threads of a process are stopped, or on systems that do not tell (not Linux). */
const isStopped = (pid: number): boolean => {
  const tasks = `/proc/${pid}/task`;
  if (!existsSync(tasks)) return true;
  return readdirSync(tasks).every((task) => {
    try {
      // The state follows the name, which may contain any characters.
      const stat = readFileSync(`${tasks}/${task}/stat`, 'utf8');
      return stat.at(stat.lastIndexOf(')') + 2) === 'T';
    } catch {
      // A thread that ended meanwhile.
      return false;
    }
  });
};

/** The kernel stops a process once one of its threads has had its turn; on a busy machine the others go on serving until then. */
async function untilStopped(pid: number): Promise<void> {
  const deadline = Date.now() + STOP_WITHIN;
  while (!isStopped(pid) && Date.now() < deadline) await pause(5);
}

/** One process of a service, which can be killed and started again on the same ports and data. */
export class ServiceProcess {
  readonly name: string;
  readonly #options: ServiceProcessOptions;
  #process: GuardedProcess | undefined;

  constructor(options: ServiceProcessOptions) {
    this.name = options.name;
    this.#options = options;
  }

  /** The process id of the last start; 0 before the first. */
  get pid(): number {
    return this.#process?.pid ?? 0;
  }

  get running(): boolean {
    return this.#process?.running ?? false;
  }

  /** Starts it and waits until it is ready. Throws with the end of its log when it is not. */
  async start(): Promise<void> {
    const { attempts = 1, launch } = this.#options;
    const deadline = Date.now() + READY_WITHIN;
    for (let attempt = 1; ; attempt += 1) {
      const started = startGuarded(launch);
      this.#process = started;
      const outcome = await this.#untilReady(started, deadline);
      if (outcome === 'ready') return;
      if (outcome === 'ended' && attempt < attempts && Date.now() < deadline) {
        await pause(100);
        continue;
      }
      await this.kill('SIGKILL');
      const what = outcome === 'ended' ? 'ended before it was ready' : `was not ready within ${READY_WITHIN} ms`;
      throw new Error(`${this.name} ${what}. Its log ends with:\n${lastLines(launch.log)}`);
    }
  }

  async #untilReady(started: GuardedProcess, deadline: number): Promise<'ready' | 'ended' | 'late'> {
    while (started.running) {
      if (await this.#options.isReady().catch(() => false)) return 'ready';
      if (Date.now() > deadline) return 'late';
      await pause(25);
    }
    return 'ended';
  }

  /** Sends a signal. Where it is deadly, waits for the end; where it stops the process, until each of its threads stands still. */
  async kill(signal: NodeJS.Signals = 'SIGKILL'): Promise<void> {
    const process = this.#process;
    if (!process?.running) return;
    process.signal(signal);
    if (!LETS_LIVE.includes(signal)) await process.ended;
    if (signal === 'SIGSTOP') await untilStopped(process.pid);
  }

  /** Ends it in good order, and by force when that takes too long. A stopped process is let go on first. */
  async stop(): Promise<void> {
    const process = this.#process;
    if (!process?.running) return;
    process.signal('SIGCONT');
    process.signal(this.#options.stopSignal ?? 'SIGTERM');
    const timer = setTimeout(() => process.signal('SIGKILL'), STOP_WITHIN);
    await process.ended;
    clearTimeout(timer);
  }

  /** Starts it again on the same ports and data; ends it first where it still runs. */
  async restart(): Promise<void> {
    await this.stop();
    await this.start();
  }
}
