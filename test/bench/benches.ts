import { append } from './benches/append.ts';
import { ingest } from './benches/ingest.ts';
import { latency } from './benches/latency.ts';
import { rules } from './benches/rules.ts';
import type { Bench } from './harness/bench.ts';

/** In the order of `docs/benchmarks.md`. */
export const BENCHES: readonly Bench[] = [ingest, latency, append, rules];
