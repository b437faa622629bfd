import type { Bench, BenchCase } from './bench.ts';
import type { Quantiles } from './delays.ts';

/** One counted round of one side. */
export type Measured = {
  readonly done: number;
  readonly seconds: number;
  /** Done in a second. */
  readonly rate: number;
  /** CPU seconds by the name of the process. */
  readonly cpu: Readonly<Record<string, number>>;
  /** Resident memory by the name of the process, in MiB: the median of one look a second. */
  readonly memory: Readonly<Record<string, number>>;
  readonly delays?: Quantiles;
  readonly offered?: number;
  readonly loadBusy?: number;
  readonly wal?: number;
};

export type SideResult = {
  readonly name: string;
  readonly syncs: string;
  readonly at?: number;
  readonly line?: string;
  /** Why it did not run. */
  readonly skipped?: string;
  /** What verifying found: with any of them the rounds say nothing. */
  readonly faults: readonly string[];
  readonly rounds: readonly Measured[];
};

export type CaseResult = Omit<BenchCase, 'sides'> & { readonly sides: readonly SideResult[] };
export type BenchResult = Omit<Bench, 'cases'> & { readonly cases: readonly CaseResult[] };
