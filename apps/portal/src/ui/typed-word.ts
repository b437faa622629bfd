/** Milliseconds until typed letters begin another word. */
const TYPED_WITHIN_MS = 1_000;

/** The letters typed at a list one shortly after the other, which find the first item whose name begins with them. */
export class TypedWord {
  #word = '';
  #at = 0;

  /**
   * Adds a key. Returns the index of the item found, or -1 if no name begins with the word. Returns undefined if the key is no letter;
   * a space is a letter only inside of a word.
   */
  find(items: readonly { readonly name: string }[], key: string, now: number): number | undefined {
    const word = now - this.#at < TYPED_WITHIN_MS ? this.#word : '';
    if (key.length !== 1 || (key === ' ' && word === '')) return undefined;
    this.#word = word + key.toLowerCase();
    this.#at = now;
    return items.findIndex(({ name }) => name.toLowerCase().startsWith(this.#word));
  }
  clear(): void {
    this.#word = '';
  }
}
