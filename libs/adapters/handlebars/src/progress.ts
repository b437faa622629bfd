/**
 * State of a worker in shared memory, because a hanging worker cannot send messages. `job` is the number of its current
 * message, or 0.
 */
export const PHASES = ['idle', 'compile', 'render'] as const;
export type Phase = (typeof PHASES)[number];

export type Progress = {
  readonly phase: Phase;
  readonly job: number;
  readonly part: number;
  /** Clock (process.hrtime) and thread time at which the phase began, in milliseconds. */
  readonly clockMs: number;
  readonly cpuMs: number;
};

const SLOTS = 5;
export const newProgress = (): SharedArrayBuffer => new SharedArrayBuffer(SLOTS * 8);

/** Milliseconds on a clock that all threads of the process share. */
export const clockMs = (): number => Number(process.hrtime.bigint() / 1000n) / 1000;
const threadMs = (): number => {
  const used = process.threadCpuUsage();
  return (used.user + used.system) / 1000;
};

/** The worker's side. */
export type Reporter = { begin(phase: Phase, job: number): void; part(part: number): void };

export function reporter(buffer: SharedArrayBuffer): Reporter {
  const cells = new Float64Array(buffer);
  const phaseCell = new Int32Array(buffer, 0, 1);
  return {
    begin(phase, job) {
      cells[1] = job;
      cells[3] = clockMs();
      cells[4] = threadMs();
      // Last, and atomic: whoever sees the phase sees when it began.
      Atomics.store(phaseCell, 0, PHASES.indexOf(phase));
    },
    part(part) {
      cells[2] = part;
    },
  };
}

/** The main thread's side. */
export function readProgress(buffer: SharedArrayBuffer): Progress {
  const phase = PHASES[Atomics.load(new Int32Array(buffer, 0, 1), 0)] ?? 'idle';
  const [, job = 0, part = 0, clock = 0, cpu = 0] = new Float64Array(buffer);
  return { phase, job, part, clockMs: clock, cpuMs: cpu };
}
