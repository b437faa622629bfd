import type { FencedWrite } from '@carillon/ports';

/** Maximum documents per read or write, so that other writes do not wait long. */
const BATCH_SIZE = 100;

/**
 * The documents that a batch is about: read before the record that needs them is looked at, changed in memory, and written
 * after the outputs (promise 3). Nothing is written before `save`.
 */
export class BatchDocuments<Document> {
  readonly #keyOf: (document: Document) => string;
  readonly #asked = new Set<string>();
  readonly #held = new Map<string, Document>();
  readonly #changed = new Map<string, Document>();

  constructor(keyOf: (document: Document) => string) {
    this.#keyOf = keyOf;
  }

  /** Each document is read once, so that changes of the batch are not overwritten by a later read. */
  async load(keys: Iterable<string>, read: (some: readonly string[]) => Promise<readonly Document[]>): Promise<this> {
    const unknown = [...new Set(keys)].filter((key) => !this.#asked.has(key) && !this.#held.has(key));
    for (const some of chunksOf(unknown)) {
      for (const document of await read(some)) this.#held.set(this.#keyOf(document), document);
      for (const key of some) this.#asked.add(key);
    }
    return this;
  }

  /** Returns the document with the changes of the batch so far. */
  get(key: string): Document | undefined {
    return this.#held.get(key);
  }

  /** All that the batch is about and that there are. */
  held(): Iterable<Document> {
    return this.#held.values();
  }

  put(document: Document): void {
    const key = this.#keyOf(document);
    this.#held.set(key, document);
    this.#changed.set(key, document);
  }

  /** Writes what was changed; `refused` where another worker is further on. */
  async save(write: (some: readonly Document[]) => Promise<FencedWrite>): Promise<FencedWrite> {
    for (const some of chunksOf([...this.#changed.values()])) {
      if ((await write(some)) === 'refused') return 'refused';
    }
    return 'done';
  }
}

function chunksOf<Item>(items: readonly Item[]): Item[][] {
  return Array.from({ length: Math.ceil(items.length / BATCH_SIZE) }, (_, at) =>
    items.slice(at * BATCH_SIZE, (at + 1) * BATCH_SIZE),
  );
}
