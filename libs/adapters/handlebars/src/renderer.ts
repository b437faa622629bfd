import type { Rendered, TemplateRenderer } from '@carillon/ports';

import { sameTemplate } from './cache.ts';
import { inspect, inspectPiece, warningsOf } from './check.ts';
import { createEngine } from './engine.ts';
import { tooSlow } from './run.ts';
import { LIMITS } from './limits.ts';
import { MainThread } from './main-thread.ts';
import { fieldsOf, namesOf } from './names.ts';
import { Pool } from './pool.ts';
import { templateSourceOf, type TemplateSource } from './template-source.ts';

export type TemplateRendererOptions = {
  /** Threads that render; one fills in some thousand mails of usual size in a second. Default 1. */
  readonly workers?: number;
  /** Hears when a worker had to be ended because of a template. */
  readonly onStopped?: (message: string) => void;
};

/** Templates that could not be compiled in time, so that each message does not cost a worker again. */
const REMEMBERED = 200;
const HOPELESS = tooSlow('compiling', LIMITS.compileMs);

export function createTemplateRenderer(options: TemplateRendererOptions = {}): TemplateRenderer {
  const mainThread = new MainThread(createEngine());
  let closed = false;
  const pool = new Pool({
    workers: Math.max(1, options.workers ?? 1),
    onStopped: options.onStopped ?? (() => {}),
  });
  const hopeless = new Map<string, { readonly sheet: TemplateSource; readonly rendered: Rendered }>();

  let underWay = 0;
  let drained: (() => void) | undefined;
  const render: TemplateRenderer['render'] = async (key, template, context, locality) => {
    const sheet = templateSourceOf(template);
    const known = hopeless.get(key);
    if (known && sameTemplate(known.sheet, sheet)) return known.rendered;
    const small = await mainThread.render(key, sheet, context, locality);
    if (small) return small;
    const wantsPlan = !mainThread.knows(key, sheet);
    const { rendered, plan } = await pool.run({ key, sheet, context, locality, wantsPlan });
    if (plan) mainThread.learn(key, sheet, plan);
    if (!rendered.ok && rendered.message === HOPELESS) {
      if (hopeless.size >= REMEMBERED) hopeless.clear();
      hopeless.set(key, { sheet, rendered });
    }
    return rendered;
  };

  return {
    piece: (source) => inspectPiece(source),
    check: (template) => inspect(templateSourceOf(template)).faults,
    warnings: (template) => warningsOf(templateSourceOf(template)),
    names: (template) => namesOf(templateSourceOf(template)),
    fields: (template) => fieldsOf(templateSourceOf(template)),
    async render(key, template, context, locality) {
      if (closed) throw new Error('the template renderer is closed');
      underWay += 1;
      try {
        return await render(key, template, context, locality);
      } finally {
        underWay -= 1;
        if (underWay === 0) drained?.();
      }
    },
    /** Finishes what it has. */
    async close() {
      closed = true;
      if (underWay > 0) await new Promise<void>((resolve) => (drained = resolve));
      await pool.close();
    },
  };
}
