/** Documents of a bulk write as long as nothing is known. A database that writes fifteen a second has them before its silence counts as failure. */
const MIN_BATCH_SIZE = 100;
/** Documents of a bulk write to a database that is found quick. No batch that a role takes from the log is larger. */
const MAX_BATCH_SIZE = 500;
/** A run holds what the database does in this time, by the run before. */
const TARGET_BATCH_MS = 1_000;

/**
 * Writes many, or asks for many, in runs, in order. Each run is an attempt of its own: what a slow database has taken stays taken, where one
 * large bulk would come again as large as it was. Answers what the runs answered, in the order of the items. Rejects with the first run that
 * does; later ones are not begun.
 */
export type InBatches = <Item, Answer>(
  items: readonly Item[],
  write: (run: readonly Item[]) => Promise<readonly Answer[]>,
) => Promise<Answer[]>;

/**
 * Creates batching for the inserts of one store, with up to `largest` documents per batch depending on the database's
 * speed. After a failure batches are small again, so that a retry succeeds. Failed batches are retried by the caller,
 * not here.
 */
export function createAdaptiveBatches(largest = MAX_BATCH_SIZE): InBatches {
  let size = MIN_BATCH_SIZE;
  return async function inRuns<Item, Answer>(
    items: readonly Item[],
    write: (run: readonly Item[]) => Promise<readonly Answer[]>,
  ): Promise<Answer[]> {
    const answers: Answer[] = [];
    for (let at = 0; at < items.length;) {
      const run = items.slice(at, at + size);
      at += run.length;
      const begun = performance.now();
      try {
        answers.push(...(await write(run)));
      } catch (error) {
        size = MIN_BATCH_SIZE;
        throw error;
      }
      const took = performance.now() - begun;
      // A few documents say how long a round trip takes, and little of what many would, unless even these took long.
      if (run.length < MIN_BATCH_SIZE && took <= TARGET_BATCH_MS) continue;
      size = Math.max(MIN_BATCH_SIZE, Math.min(largest, Math.floor((run.length * TARGET_BATCH_MS) / took)));
    }
    return answers;
  };
}

/** Always small runs: for questions, and for upserts, whose documents differ much in size. */
export const inRuns: InBatches = createAdaptiveBatches(MIN_BATCH_SIZE);
