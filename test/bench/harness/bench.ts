import type { Histogram } from 'node:perf_hooks';

/** One turn of one side. */
export type Round = {
  /** 0 is the warm-up, whose reading is thrown away; what it did is verified with the rest. */
  readonly number: number;
  /** How long the work should go on. A side whose work has a fixed size ignores it. */
  readonly seconds: number;
  /** How many are to begin in a second, where the command said so and the side's load is open. */
  readonly rate?: number;
};

/** What one side did in one round. */
export type Reading = {
  /** How many of `BenchCase.counted` were done. */
  readonly done: number;
  /** How long that took, by the clock on the wall. */
  readonly seconds: number;
  /** In microseconds: see `createDelays`. What they are says `BenchCase.delays`. */
  readonly delays?: Histogram;
  /** How many were to begin in a second, where the load was open. */
  readonly offered?: number;
  /** The part of one core that the one thread of the load used: near 1, the load was the limit, and not the side. */
  readonly loadBusy?: number;
  /** Largest size of a write-ahead log in the round, in MiB. */
  readonly wal?: number;
  /** CPU seconds by name of process, where those of `OpenSide.processes` do not do: they lived only within the round. */
  readonly cpu?: Readonly<Record<string, number>>;
};

/** A side that was started: it is idle except in its own rounds, which come in turn with those of the other sides. */
export type OpenSide = {
  /** Name and process id of each process whose CPU time counts. Left out: this process alone, as `bench`. */
  readonly processes?: Readonly<Record<string, number>>;
  round(round: Round): Promise<Reading>;
  /** Called once, after the last round: everything that is wrong with what the rounds left behind. Any of it voids the side. */
  verify(): Promise<readonly string[]>;
  close?(): Promise<void>;
};

/** One of those that are measured side by side. */
export type Side = {
  /** Unique within its case. */
  readonly name: string;
  /** What it forces to disk, and when: `nothing`, `each commit`. */
  readonly syncs: string;
  /** In a chart of growth: where on the axis it stands, and on which line. */
  readonly at?: number;
  readonly line?: string;
  /** @throws CannotRun where this machine lacks what it needs: the side is skipped, and the reason printed. */
  open(): Promise<OpenSide>;
};

/**
 * `cpu`: CPU seconds of all its processes for a thousand done. `memory`: resident MiB of all its processes. `wal`: MiB. Delays in milliseconds.
 * `stretch`: the longest delay, in medians.
 */
export type Measure = 'rate' | 'seconds' | 'cpu' | 'memory' | 'wal' | 'p50' | 'p95' | 'p99' | 'max' | 'stretch';

/** What the bench is for: one number, most of which have a floor and a goal. */
export type Comparison = {
  readonly side: string;
  /** The measure of `side` is divided by that of this one. Left out: the measure itself is judged. */
  readonly to?: string;
  /** The measure of `to` is subtracted instead. */
  readonly by?: 'difference';
  readonly measure: Measure;
  readonly wanted: 'at least' | 'at most';
  /** Left out: the number is stated, and nothing is missed. */
  readonly floor?: number;
  readonly goal?: number;
};

/** Sides that do the same work, interleaved in one run. */
export type BenchCase = {
  readonly title: string;
  /** Plural: `events`. */
  readonly counted: string;
  /** What the delays are, where the sides record any: `from the request to its 202`. */
  readonly delays?: string;
  readonly sides: readonly Side[];
  readonly comparisons: readonly Comparison[];
  /** Draws lines over `Side.at` instead of bars. */
  readonly growth?: { readonly over: string; readonly measure: Measure };
  /** Draws the memory of these processes from round to round, and judges whether it is flat. */
  readonly memoryOf?: readonly string[];
  /** A case whose length is its point: it has these rounds, unless the command says how many minutes. */
  readonly pace?: { readonly rounds: number; readonly seconds: number };
};

export type Bench = {
  /** Lower case with hyphens: the name on the command line, of the module and of the images. */
  readonly name: string;
  readonly title: string;
  /** Exactly what is measured, in Markdown. */
  readonly what: string;
  readonly cases: readonly BenchCase[];
};

/** This machine cannot run a side. */
export class CannotRun extends Error {}
