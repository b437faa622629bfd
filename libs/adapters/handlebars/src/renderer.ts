import type { EmailTemplate } from '@carillon/domain';
import type { Rendered, TemplateRenderer } from '@carillon/ports';

import { inspect } from './check.ts';
import { tooSlow } from './engine.ts';
import { LIMITS } from './limits.ts';
import { fieldsOf, namesOf } from './names.ts';
import { Pool } from './pool.ts';
import { sameTemplate } from './protocol.ts';

export type TemplateRendererOptions = {
  /** Threads that render; one fills in some thousand mails of usual size in a second. Default 1. */
  readonly workers?: number;
  /** How dates and numbers look where a template does not say. Default `en`. */
  readonly locale?: string;
  /** Default `UTC`. */
  readonly timeZone?: string;
  /** Hears when a worker had to be ended because of a template. */
  readonly onStopped?: (message: string) => void;
};

/** Templates that could not be compiled in time, so that each message does not cost a worker again. */
const REMEMBERED = 200;
const HOPELESS = tooSlow('compiling', LIMITS.compileMs);

export function createTemplateRenderer(options: TemplateRendererOptions = {}): TemplateRenderer {
  const pool = new Pool({
    workers: Math.max(1, options.workers ?? 1),
    locality: { locale: options.locale ?? 'en', timeZone: options.timeZone ?? 'UTC' },
    onStopped: options.onStopped ?? (() => {}),
  });
  const hopeless = new Map<string, { readonly template: EmailTemplate; readonly rendered: Rendered }>();

  return {
    check: (template) => inspect(template).faults,
    names: namesOf,
    fields: fieldsOf,
    async render(key, template, context) {
      const known = hopeless.get(key);
      if (known && sameTemplate(known.template, template)) return known.rendered;
      const rendered = await pool.run({ key, template, context });
      if (!rendered.ok && rendered.message === HOPELESS) {
        if (hopeless.size >= REMEMBERED) hopeless.clear();
        hopeless.set(key, { template, rendered });
      }
      return rendered;
    },
    close: () => pool.close(),
  };
}
