import type { TemplateSource } from './template-source.ts';

type Entry<T> = { readonly sheet: TemplateSource; readonly value: T; readonly bytes: number };

/** What was made of templates, by key; the least recently used are forgotten where all take more than `limit` bytes. */
export class TemplateCache<T> {
  readonly #limit: number;
  readonly #entries = new Map<string, Entry<T>>();
  #bytes = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  get(key: string, sheet: TemplateSource): T | undefined {
    const found = this.#entries.get(key);
    if (!found || !sameTemplate(found.sheet, sheet)) return undefined;
    this.#entries.delete(key);
    this.#entries.set(key, found);
    return found.value;
  }

  set(key: string, sheet: TemplateSource, value: T, bytes: number): void {
    this.#forget(key);
    this.#entries.set(key, { sheet, value, bytes });
    this.#bytes += bytes;
    for (const oldest of this.#entries.keys()) {
      if (this.#bytes <= this.#limit || oldest === key) break;
      this.#forget(oldest);
    }
  }

  #forget(key: string): void {
    this.#bytes -= this.#entries.get(key)?.bytes ?? 0;
    this.#entries.delete(key);
  }
}

/** Whether two templates render the same: a key may be used again with other content, in a preview above all. */
export const sameTemplate = (a: TemplateSource, b: TemplateSource): boolean =>
  a === b ||
  (a.strict === b.strict &&
    a.parts.length === b.parts.length &&
    a.parts.every(({ name, source }, at) => name === b.parts[at]?.name && source === b.parts[at].source));

/** Heap that a template takes when it was read, as measured: text twice, and some 3 KB of plan and functions for each tag. */
export function compiledBytes({ parts }: TemplateSource): number {
  let bytes = 2000;
  for (const { source } of parts as readonly { source: unknown }[]) {
    if (typeof source === 'string') bytes += 2 * source.length + 3000 * (source.split('{{').length - 1);
  }
  return bytes;
}
