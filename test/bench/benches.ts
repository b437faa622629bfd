import { append } from './benches/append.ts';
import { cadence } from './benches/cadence.ts';
import { cadenceEditor } from './benches/cadence-editor.ts';
import { callbacks } from './benches/callbacks.ts';
import { claims } from './benches/claims.ts';
import { endToEnd } from './benches/end-to-end.ts';
import { evaluate } from './benches/evaluate.ts';
import { fcm } from './benches/fcm.ts';
import { growth } from './benches/growth.ts';
import { history } from './benches/history.ts';
import { ingest } from './benches/ingest.ts';
import { latency } from './benches/latency.ts';
import { lookups } from './benches/lookups.ts';
import { manyRules } from './benches/many-rules.ts';
import { management } from './benches/management.ts';
import { receipts } from './benches/receipts.ts';
import { rules } from './benches/rules.ts';
import { sending } from './benches/sending.ts';
import { slowOne } from './benches/slow-one.ts';
import { smtp } from './benches/smtp.ts';
import { soak } from './benches/soak.ts';
import { start } from './benches/start.ts';
import { templates } from './benches/templates.ts';
import { tracing } from './benches/tracing.ts';
import type { Bench } from './harness/bench.ts';

/** In the order of `docs/benchmarks.md`. */
export const BENCHES: readonly Bench[] = [
  ingest,
  latency,
  append,
  evaluate,
  history,
  endToEnd,
  rules,
  manyRules,
  lookups,
  claims,
  callbacks,
  receipts,
  smtp,
  fcm,
  sending,
  cadence,
  cadenceEditor,
  templates,
  management,
  slowOne,
  tracing,
  start,
  growth,
  soak,
];
