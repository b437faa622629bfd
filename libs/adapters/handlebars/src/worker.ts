import { parentPort, workerData } from 'node:worker_threads';

import { compiledBytes, TemplateCache } from './cache.ts';
import { createEngine, planTemplate, type Compiled, type Plan, type Planned } from './engine.ts';
import { LIMITS } from './limits.ts';
import { reporter } from './progress.ts';
import type { Answer, Order, WorkerData } from './protocol.ts';

/**
 * A thread that parses and renders templates. It processes orders in sequence and reports its state in shared memory.
 * It may be killed at any time, so it holds only a cache.
 */
const { progress } = workerData as WorkerData;
const report = reporter(progress);
const engine = createEngine();

type Read =
  | { readonly ok: true; readonly plan: Plan; readonly compiled: Compiled }
  | (Planned & { readonly ok: false });
const cache = new TemplateCache<Read>(LIMITS.cache);

function read({ job, key, sheet }: Order): Read {
  const found = cache.get(key, sheet);
  if (found) return found;
  report.begin('compile', job);
  const planned = planTemplate(sheet);
  const fresh = planned.ok ? { ...planned, compiled: engine.compile(planned.plan) } : planned;
  cache.set(key, sheet, fresh, compiledBytes(sheet));
  return fresh;
}

function answer(order: Order): Answer {
  const { job, context, locality, wantsPlan } = order;
  const found = read(order);
  if (!found.ok) return { job, rendered: found, plan: undefined };
  report.part(0);
  report.begin('render', job);
  const rendered = engine.render(found.compiled, context, locality, (part) =>
    report.part(order.sheet.parts.findIndex(({ name }) => name === part)),
  );
  return { job, rendered, plan: wantsPlan ? found.plan : undefined };
}

parentPort?.on('message', (order: Order) => {
  const answered = answer(order);
  report.begin('idle', order.job);
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- that is for windows, this is a thread
  parentPort?.postMessage(answered);
});
