import type { EmailTemplate } from '@carillon/domain';

type Entry<T> = { readonly template: EmailTemplate; readonly value: T; readonly bytes: number };

/** What was made of templates, by key; the least recently used are forgotten where all take more than `limit` bytes. */
export class TemplateCache<T> {
  readonly #limit: number;
  readonly #entries = new Map<string, Entry<T>>();
  #bytes = 0;

  constructor(limit: number) {
    this.#limit = limit;
  }

  get(key: string, template: EmailTemplate): T | undefined {
    const found = this.#entries.get(key);
    if (!found || !sameTemplate(found.template, template)) return undefined;
    this.#entries.delete(key);
    this.#entries.set(key, found);
    return found.value;
  }

  set(key: string, template: EmailTemplate, value: T, bytes: number): void {
    this.#forget(key);
    this.#entries.set(key, { template, value, bytes });
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
export const sameTemplate = (a: EmailTemplate, b: EmailTemplate): boolean =>
  a.subject === b.subject &&
  a.from === b.from &&
  a.html === b.html &&
  a.text === b.text &&
  (a.strict === true) === (b.strict === true);

/** Heap that a template takes when it was read, as measured: text twice, and some 3 KB of plan and functions for each tag. */
export function compiledBytes({ subject, from, html, text }: EmailTemplate): number {
  let bytes = 2000;
  for (const source of [subject, from, html, text] as readonly unknown[]) {
    if (typeof source === 'string') bytes += 2 * source.length + 3000 * (source.split('{{').length - 1);
  }
  return bytes;
}
