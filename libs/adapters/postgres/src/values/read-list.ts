import type { Json } from '@carillon/kernel';

const BOUNDS = /^(?:\[-?\d+:-?\d+\])+=/;

/**
 * Reads PostgreSQL's text of an array, such as `{1,NULL,"a\"b"}` or `{{1},{2}}`, as lists. `element` reads the text of one
 * element. Undefined for text of another form.
 */
export function readList(
  text: string,
  delimiter: string,
  element: (text: string) => Json,
): readonly Json[] | undefined {
  const reader = new ListReader(text, delimiter, element, BOUNDS.exec(text)?.[0].length ?? 0);
  return reader.read();
}

/** Levels of lists that PostgreSQL allows. */
const MAX_DEPTH = 6;

class ListReader {
  readonly #text: string;
  readonly #delimiter: string;
  readonly #element: (text: string) => Json;
  #at: number;

  constructor(text: string, delimiter: string, element: (text: string) => Json, at: number) {
    this.#text = text;
    this.#delimiter = delimiter;
    this.#element = element;
    this.#at = at;
  }

  read(): readonly Json[] | undefined {
    const list = this.#list(1);
    return this.#at === this.#text.length ? list : undefined;
  }

  #list(depth: number): readonly Json[] | undefined {
    if (this.#text[this.#at] !== '{' || depth > MAX_DEPTH) return undefined;
    this.#at += 1;
    const items: Json[] = [];
    if (this.#text[this.#at] === '}') {
      this.#at += 1;
      return items;
    }
    for (;;) {
      const item = this.#text[this.#at] === '{' ? this.#list(depth + 1) : this.#item();
      if (item === undefined) return undefined;
      items.push(item);
      const next = this.#text[this.#at];
      this.#at += 1;
      if (next === '}') return items;
      if (next !== this.#delimiter) return undefined;
    }
  }

  #item(): Json | undefined {
    if (this.#text[this.#at] === '"') {
      const content = this.#quoted();
      return content === undefined ? undefined : this.#element(content);
    }
    const start = this.#at;
    while (this.#at < this.#text.length && this.#text[this.#at] !== this.#delimiter && this.#text[this.#at] !== '}') {
      this.#at += 1;
    }
    const content = this.#text.slice(start, this.#at);
    return content === 'NULL' ? null : this.#element(content);
  }

  #quoted(): string | undefined {
    let content = '';
    for (let at = this.#at + 1; at < this.#text.length; at += 1) {
      const character = this.#text[at];
      if (character === '"') {
        this.#at = at + 1;
        return content;
      }
      if (character === '\\') at += 1;
      content += this.#text[at] ?? '';
    }
    return undefined;
  }
}
