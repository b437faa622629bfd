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

/** Heap that a compiled template takes, as measured: text twice, and some 6 KB of code and tree for each tag. */
function compiledBytes({ subject, from, html, text }: EmailTemplate): number {
  let bytes = 2000;
  for (const source of [subject, from, html, text] as readonly unknown[]) {
    if (typeof source === 'string') bytes += 2 * source.length + 6000 * (source.split('{{').length - 1);
  }
  return bytes;
}

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
  const entry: Entry = { template, compiled: engine.compile(template), size: compiledBytes(template) };
  cache.set(key, entry);
  cached += entry.size;
  for (const oldest of cache.keys()) {
    if (cached <= LIMITS.cache || oldest === key) break;
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
