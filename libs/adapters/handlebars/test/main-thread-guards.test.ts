import { DEFAULT_LOCALITY, type JsonObject } from '@carillon/kernel';
import { describe, expect, test } from 'vitest';

import { createEngine, planTemplate, type Engine, type Plan } from '../src/engine.ts';
import { MainThread } from '../src/main-thread.ts';
import type { TemplateSource } from '../src/template-source.ts';
import { emailSheet } from './support/email.ts';

const TEMPLATE = emailSheet({ subject: 's', text: '{{#each a}}{{this}}{{/each}}' });
const SMALL: JsonObject = { a: [1, 2, 3] };
const MUCH: JsonObject = { a: Array.from({ length: 1990 }, (_, i) => i) };

const planOf = (template: TemplateSource): Plan => {
  const planned = planTemplate(template);
  if (!planned.ok) throw new Error(planned.message);
  return structuredClone(planned.plan);
};

/** The engine, which tells `before` whenever it is asked to render on the main thread. */
function mainThread(before: () => void, ...keys: readonly string[]): MainThread {
  const engine = createEngine();
  const told: Engine = {
    ...engine,
    renderSmall(compiled, context, locality) {
      before();
      return engine.renderSmall(compiled, context, locality);
    },
  };
  const thread = new MainThread(told);
  for (const key of keys) thread.learn(key, TEMPLATE, planOf(TEMPLATE));
  return thread;
}

describe('the guard against slow templates on the main thread', () => {
  test('renders a template that once took too long in a worker for the next hundred renderings, and then tries the main thread again', async () => {
    let tried = 0;
    const thread = mainThread(() => (tried += 1), 'k');
    expect(await thread.render('k', TEMPLATE, MUCH, DEFAULT_LOCALITY)).toBeUndefined();
    for (let turn = 0; turn < 100; turn += 1)
      expect(await thread.render('k', TEMPLATE, SMALL, DEFAULT_LOCALITY)).toBeUndefined();
    expect(tried).toBe(1);
    expect(await thread.render('k', TEMPLATE, SMALL, DEFAULT_LOCALITY)).toMatchObject({
      ok: true,
      parts: { text: '123' },
    });
    expect(tried).toBe(2);
  });

  test('does not affect other templates after one template took too long', async () => {
    const thread = mainThread(() => undefined, 'k', 'other');
    await thread.render('k', TEMPLATE, MUCH, DEFAULT_LOCALITY);
    expect(await thread.render('other', TEMPLATE, SMALL, DEFAULT_LOCALITY)).toMatchObject({ ok: true });
  });

  test('lets other work run after some milliseconds of rendering, before the next rendering', async () => {
    const order: string[] = [];
    const thread = mainThread(
      () => {
        order.push('render');
        // Longer than a turn may last.
        for (const begun = performance.now(); performance.now() - begun < 6;);
      },
      'a',
      'b',
    );
    setImmediate(() => void order.push('turn'));
    await Promise.all([
      thread.render('a', TEMPLATE, SMALL, DEFAULT_LOCALITY),
      thread.render('b', TEMPLATE, SMALL, DEFAULT_LOCALITY),
    ]);
    expect(order).toEqual(['render', 'turn', 'render']);
  });
});
