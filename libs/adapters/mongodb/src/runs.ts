/** Documents of one bulk write. A database that writes fifteen a second has them before its silence counts as failure. */
const RUN = 100;

/**
 * Writes many, or asks for many, in runs, in order. Each run is an attempt of its own: what a slow database has taken stays taken, where one
 * large bulk would come again as large as it was. Answers what the runs answered, in the order of the items.
 */
export async function inRuns<Item, Answer>(
  items: readonly Item[],
  write: (run: readonly Item[]) => Promise<readonly Answer[]>,
): Promise<Answer[]> {
  const answers: Answer[] = [];
  for (let at = 0; at < items.length; at += RUN) answers.push(...(await write(items.slice(at, at + RUN))));
  return answers;
}
