import { claims } from './benches/claims.ts';
import { endToEnd } from './benches/end-to-end.ts';
import { evaluate } from './benches/evaluate.ts';
import { growth } from './benches/growth.ts';
import { history } from './benches/history.ts';
import { ingest } from './benches/ingest.ts';
import { lookups } from './benches/lookups.ts';
import { management } from './benches/management.ts';
import { receipts } from './benches/receipts.ts';
import { replay } from './benches/replay.ts';
import { rules } from './benches/rules.ts';
import { sending } from './benches/sending.ts';
import { slowOne } from './benches/slow-one.ts';
import { soak } from './benches/soak.ts';
import { sources } from './benches/sources.ts';
import { start } from './benches/start.ts';
import { stateMemory } from './benches/state-memory.ts';
import { states } from './benches/states.ts';
import type { Bench } from './harness/bench.ts';

/** In the order of `docs/benchmarks.md`. */
export const BENCHES: readonly Bench[] = [
  ingest,
  evaluate,
  history,
  replay,
  endToEnd,
  rules,
  states,
  stateMemory,
  lookups,
  claims,
  receipts,
  sending,
  sources,
  management,
  slowOne,
  start,
  growth,
  soak,
];
