/**
 * Does work for each item, at most `atOnce` at a time, beginning in their order. Settles when all that was begun has ended; after a
 * failure nothing more begins, and it rejects with the first one.
 */
export async function forEachConcurrently<Item>(
  items: Iterable<Item>,
  atOnce: number,
  work: (item: Item) => Promise<unknown>,
): Promise<void> {
  const left = items[Symbol.iterator]();
  const failures: unknown[] = [];
  async function takeNext(): Promise<void> {
    for (let next = left.next(); !next.done && failures.length === 0; next = left.next()) {
      try {
        await work(next.value);
      } catch (error) {
        failures.push(error);
      }
    }
  }
  await Promise.all(Array.from({ length: atOnce }, takeNext));
  if (failures.length > 0) throw failures[0];
}
