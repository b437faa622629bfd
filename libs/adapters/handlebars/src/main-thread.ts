import type { Rendered } from '@carillon/ports';
import type { JsonObject, Locality } from '@carillon/kernel';

import { compiledBytes, TemplateCache } from './cache.ts';
import type { Compiled, Engine, Plan } from './engine.ts';
import { SMALL } from './limits.ts';
import type { TemplateSource } from './template-source.ts';

type Entry = { readonly compiled: Compiled; skip: number };

/** Renders that go to a worker at once after one that was too much here: the next will probably be too. */
const SKIPPED = 100;
/** Milliseconds per tick of the event loop after which further rendering waits for the next tick. */
const TURN_MS = 5;
/** Milliseconds that no render takes here but by a gap in the bounds, or on a machine that stood still. */
const SLOW_MS = 20;

/**
 * Renders on the main thread what is little work (`SMALL`): a message to a worker and back costs several times what
 * filling in a usual mail does. It never reads a template: workers do that, and give it the plan.
 */
export class MainThread {
  readonly #engine: Engine;
  readonly #cache = new TemplateCache<Entry>(SMALL.cache);
  #spentMs = 0;
  #nextTurn: Promise<void> | undefined;

  constructor(engine: Engine) {
    this.#engine = engine;
  }

  knows(key: string, sheet: TemplateSource): boolean {
    return this.#cache.get(key, sheet) !== undefined;
  }

  learn(key: string, sheet: TemplateSource, plan: Plan): void {
    const entry = { compiled: this.#engine.compile(plan), skip: 0 };
    this.#cache.set(key, sheet, entry, compiledBytes(sheet));
  }

  /** Undefined where a worker has to do it. */
  async render(
    key: string,
    sheet: TemplateSource,
    context: JsonObject,
    locality: Locality,
  ): Promise<Rendered | undefined> {
    while (this.#spentMs >= TURN_MS) await this.#turn();
    const entry = this.#cache.get(key, sheet);
    if (entry === undefined) return undefined;
    if (entry.skip > 0) {
      entry.skip -= 1;
      return undefined;
    }
    const begun = performance.now();
    const rendered = this.#engine.renderSmall(entry.compiled, context, locality);
    const took = performance.now() - begun;
    this.#spentMs += took;
    void this.#turn();
    // Also what came to an end, and took longer than anything should: the bounds have a gap, which must not be met each time.
    if (rendered === undefined || took > SLOW_MS) entry.skip = SKIPPED;
    return rendered;
  }

  #turn(): Promise<void> {
    this.#nextTurn ??= new Promise((resolve) => {
      setImmediate(() => {
        this.#spentMs = 0;
        this.#nextTurn = undefined;
        resolve();
      });
    });
    return this.#nextTurn;
  }
}
