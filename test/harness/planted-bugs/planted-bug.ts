import type { Plant } from '../../simulation/ports.ts';
import type { Change } from '../planting.ts';
import type { PromiseName } from '../promises.ts';

/** A bug in the source of the product. A proof runs the product with it. */
export type CrashBug = {
  readonly breaks: PromiseName;
  /** The proof that turns red. */
  readonly proof: string;
  readonly changes: readonly Change[];
};

/** A bug in the source of the product. One of these tests turns red with it. */
export type TestedBug = {
  readonly changes: readonly Change[];
  readonly tests: readonly string[];
  readonly lane?: 'fast' | 'server';
};

/** A bug in the ports that the simulated roles get, or in the stores behind them. */
export type PortBug = {
  readonly breaks: PromiseName;
  readonly plant?: Plant;
  /** A store takes every write, however old. */
  readonly unfenced?: 'checkpoints' | 'cohorts';
  /** Matches a finding of the run (`describeFinding`). */
  readonly finds: RegExp;
  /** The first seed of the search, for bugs that need a rare course. Defaults to 1. */
  readonly firstSeed?: number;
};
