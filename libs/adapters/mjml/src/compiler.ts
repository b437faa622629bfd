import { Worker } from 'node:worker_threads';
import { messageOf } from '@carillon/kernel';
import type { CompiledMjml, MjmlCompiler, MjmlFault } from '@carillon/ports';
import { MJML_LIMITS } from './limits.ts';
import { scanMjml } from './scan.ts';
import { lostTag, unclosedTag } from './tags.ts';
import type { MjmlAnswer, MjmlOrder, MjmlReady } from './worker.ts';

export type MjmlCompilerOptions = {
  /** Hears when the thread had to be ended because of a source. */
  readonly onStopped?: (message: string) => void;
  /** Milliseconds without an order after which the thread ends. Default 30 s: compiling is for when templates are saved. */
  readonly restMs?: number;
  /** Maximum milliseconds of one compilation, of processor time and by the clock. Defaults to the limits. */
  readonly workMs?: number;
  readonly clockMs?: number;
  /** How often the main thread looks at what the thread is doing, in milliseconds. */
  readonly lookMs?: number;
  /** The script that answers orders in the thread, asked for at each start. Default: the compiler. */
  readonly script?: () => URL;
};

/** Milliseconds until the thread must have loaded the compiler. A start takes about 0.6 s of work. */
const START_MS = 60_000;
/** Limits of the thread's heap and stack. The compiler alone takes 45 MB of the heap. */
const RESOURCES = { maxOldGenerationSizeMb: 256, maxYoungGenerationSizeMb: 32, stackSizeMb: 4 } as const;

/** The source as it stands in a checkout, or what a bundle made of it (tools/bundle.ts). */
const workerEntry = (): URL =>
  import.meta.url.endsWith('.ts')
    ? new URL('./worker.ts', import.meta.url)
    : new URL('./mjml-worker.js', import.meta.url);

type Thread = {
  readonly worker: Worker;
  /** Whether the compiler is loaded. */
  isReady: boolean;
};

const isReadyMessage = (message: MjmlAnswer | MjmlReady): message is MjmlReady => 'ready' in message;

/**
 * Compiles sources one by one in a thread, which loads mjml when the first source comes. A source that takes too much time
 * or memory ends the thread, and the next source starts a new one.
 */
export function createMjmlCompiler({
  onStopped = () => {},
  restMs = 30_000,
  workMs = MJML_LIMITS.workMs,
  clockMs = MJML_LIMITS.clockMs,
  lookMs = 50,
  script = workerEntry,
}: MjmlCompilerOptions = {}): MjmlCompiler {
  let thread: Thread | null = null;
  let jobs = 0;
  let closed = false;
  let line: Promise<unknown> = Promise.resolve();
  let rest: NodeJS.Timeout | undefined;

  function end(): void {
    const ended = thread;
    thread = null;
    void ended?.worker.terminate();
  }

  function start(): Thread {
    const worker = new Worker(script(), {
      resourceLimits: RESOURCES,
      // What breaks out finds no secrets in the environment.
      env: {},
      execArgv: [],
      name: 'mjml',
      // mjml writes warnings that quote the source to the console. They are read and discarded.
      stdout: true,
      stderr: true,
    });
    worker.stdout.resume();
    worker.stderr.resume();
    const started: Thread = { worker, isReady: false };
    worker.on('message', (message: MjmlAnswer | MjmlReady) => (started.isReady ||= isReadyMessage(message)));
    // Without an order no caller waits; a caller learns the result of its own order.
    worker.on('error', () => (thread = thread === started ? null : thread));
    worker.on('exit', () => (thread = thread === started ? null : thread));
    worker.unref();
    return started;
  }

  async function run(source: string): Promise<CompiledMjml> {
    if (closed) throw new Error('the MJML compiler is closed');
    clearTimeout(rest);
    thread ??= start();
    const answer = await ask(thread, { job: (jobs += 1), source }, { workMs, clockMs, lookMs });
    rest = setTimeout(end, restMs).unref();
    if ('html' in answer) return finished(source, answer.html);
    if ('problem' in answer) return refused(fromCompiler(answer.problem));
    end();
    onStopped(answer.broken);
    const message = `The compiler stopped: ${answer.broken}`;
    return { ...refused({ line: 1, column: 1, message, fix: 'Make it simpler.' }), stopped: true };
  }

  return {
    compile(source) {
      const faults = scanMjml(source);
      if (faults.length > 0) return Promise.resolve({ ok: false, faults });
      const unclosed = unclosedTag(source);
      if (unclosed) return Promise.resolve(refused(unclosed));
      const result = line.then(() => run(source));
      line = result.catch(() => undefined);
      return result;
    },
    async close() {
      await line;
      closed = true;
      clearTimeout(rest);
      await thread?.worker.terminate();
      thread = null;
    },
  };
}

const refused = (fault: MjmlFault): CompiledMjml & { readonly ok: false } => ({ ok: false, faults: [fault] });

function finished(source: string, html: string): CompiledMjml {
  const bytes = Buffer.byteLength(html);
  if (bytes > MJML_LIMITS.output) {
    const message = `The compiled HTML has ${bytes} bytes; at most ${MJML_LIMITS.output} are allowed`;
    return refused({ line: 1, column: 1, message, fix: 'Use {{#each}} in <mj-raw> for what repeats.' });
  }
  const lost = lostTag(source, html);
  return lost ? refused(lost) : { ok: true, html };
}

/** A fault that only the compiler finds. It gives no place for these. */
function fromCompiler(problem: string): MjmlFault {
  const message = `This cannot be compiled: ${problem}`.slice(0, 300);
  return { line: 1, column: 1, message, fix: 'Compare it with the reference of MJML: https://documentation.mjml.io/.' };
}

type Bounds = { readonly workMs: number; readonly clockMs: number; readonly lookMs: number };

/** Resolves to the answer for an order; `broken` after the limit. Rejects if the thread does not load the compiler. */
function ask({ worker, isReady }: Thread, order: MjmlOrder, { workMs, clockMs, lookMs }: Bounds): Promise<MjmlAnswer> {
  return new Promise((resolve, reject) => {
    const began = performance.now();
    let runningSince = isReady ? began : null;
    let usedBefore: number | null = null;
    let judging = false;
    const { job } = order;
    const finish = (act: () => void): void => {
      clearInterval(looking);
      worker.off('message', heard).off('error', failed).off('exit', ended);
      worker.unref();
      act();
    };
    const heard = (message: MjmlAnswer | MjmlReady): void => {
      if (isReadyMessage(message)) runningSince = performance.now();
      else if (message.job === job) finish(() => resolve(message));
    };
    // Before the compiler is loaded the order was not read, so the source is not to blame.
    const gone = (why: string): void =>
      finish(() =>
        runningSince === null ? reject(new Error(`no thread for MJML: ${why}`)) : resolve({ job, broken: why }),
      );
    const failed = (error: unknown): void => gone(messageOf(error).slice(0, 200));
    const ended = (): void => gone('its thread ended');
    const look = async (): Promise<void> => {
      const now = performance.now();
      if (runningSince === null) {
        if (now - began > START_MS) finish(() => reject(new Error('no thread for MJML could be started')));
        return;
      }
      const used = await workedMs(worker);
      usedBefore ??= used ?? null;
      const worked = used === undefined || usedBefore === null ? undefined : used - usedBefore;
      const passed = performance.now() - runningSince;
      if (passed < clockMs && (worked === undefined || worked < workMs)) return;
      finish(() => resolve({ job, broken: `compiling took more than ${workMs} ms` }));
    };
    const looking = setInterval(() => {
      if (judging) return;
      judging = true;
      void look().finally(() => (judging = false));
    }, lookMs);
    worker.on('message', heard).once('error', failed).once('exit', ended);
    worker.ref();
    // oxlint-disable-next-line unicorn/require-post-message-target-origin -- that is for windows, this is a thread
    worker.postMessage(order);
  });
}

/** Time that the thread has worked, in milliseconds; undefined where it does not say: it may be deep in its work. */
async function workedMs(worker: Worker): Promise<number | undefined> {
  const silence = new Promise<undefined>((resolve) => setTimeout(resolve, 100, undefined));
  const asked = worker.cpuUsage().then(
    (used) => (used.user + used.system) / 1000,
    () => undefined,
  );
  return Promise.race([asked, silence]);
}
