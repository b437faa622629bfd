import { parentPort, workerData } from 'node:worker_threads';

import type { EmailTemplate } from '@carillon/domain';

import { createEngine, type Compiled } from './engine.ts';
import { LIMITS, PARTS } from './limits.ts';
import { reporter } from './progress.ts';
import { sameTemplate, type Answer, type Order, type WorkerData } from './protocol.ts';

/**
 * The thread in which templates run. It answers orders one by one, in their order, and says in shared memory what it is
 * doing; who watches may end it at any moment, so it holds nothing but a cache.
 */
const { progress, locality } = workerData as WorkerData;
const report = reporter(progress);
const engine = createEngine(locality);

type Entry = { readonly template: EmailTemplate; readonly compiled: Compiled; readonly size: number };
/** Compiled templates, the least recently used first. */
const cache = new Map<string, Entry>();
let cached = 0;

const sizeOf = ({ subject, from, html, text }: EmailTemplate): number =>
  1000 + [subject, from, html, text].reduce((sum, source) => sum + (typeof source === 'string' ? source.length : 0), 0);

function forget(key: string): void {
  cached -= cache.get(key)?.size ?? 0;
  cache.delete(key);
}

function compiledFor({ job, key, template }: Order): Compiled {
  const found = cache.get(key);
  if (found && sameTemplate(found.template, template)) {
    cache.delete(key);
    cache.set(key, found);
    return found.compiled;
  }
  forget(key);
  report.begin('compile', job);
  const entry: Entry = { template, compiled: engine.compile(template), size: sizeOf(template) };
  cache.set(key, entry);
  cached += entry.size;
  for (const oldest of cache.keys()) {
    if (cached <= LIMITS.compiledSource || oldest === key) break;
    forget(oldest);
  }
  return entry.compiled;
}

parentPort?.on('message', (order: Order) => {
  const compiled = compiledFor(order);
  report.part(0);
  report.begin('render', order.job);
  const rendered = engine.render(compiled, order.context, (part) => report.part(PARTS.indexOf(part)));
  report.begin('idle', order.job);
  // oxlint-disable-next-line unicorn/require-post-message-target-origin -- that is for windows, this is a thread
  parentPort?.postMessage({ job: order.job, rendered } satisfies Answer);
});
