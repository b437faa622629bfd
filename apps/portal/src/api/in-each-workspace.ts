/** What was done in each workspace, and why in others it was not. */
export type InEach<Answer> = {
  readonly done: readonly { readonly workspace: string; readonly answer: Answer }[];
  readonly refused: readonly Refused[];
};
export type Refused = { readonly workspace: string; readonly error: Error };

/** Does the same in each workspace, whatever another one says to it. Never rejects. */
export async function inEach<Group extends { readonly workspace: string }, Answer>(
  groups: readonly Group[],
  act: (group: Group) => Promise<Answer>,
): Promise<InEach<Answer>> {
  const settled = await Promise.allSettled(groups.map(act));
  const done: { workspace: string; answer: Answer }[] = [];
  const refused: Refused[] = [];
  for (const [at, one] of settled.entries()) {
    const workspace = groups[at]?.workspace ?? '';
    if (one.status === 'fulfilled') done.push({ workspace, answer: one.value });
    else refused.push({ workspace, error: one.reason instanceof Error ? one.reason : new Error(String(one.reason)) });
  }
  return { done, refused };
}

/**
 * Takes back what was done in each workspace, and what one refuses keeps no other from it. Rejects with the names of those that refused;
 * called again it asks these alone.
 */
export function backInEach<Answer>(
  done: InEach<Answer>['done'],
  back: (workspace: string, answer: Answer) => Promise<unknown>,
): () => Promise<void> {
  let left = done;
  return async () => {
    const { refused } = await inEach(left, ({ workspace, answer }) => back(workspace, answer));
    const names = new Set(refused.map(({ workspace }) => workspace));
    left = left.filter(({ workspace }) => names.has(workspace));
    const [first] = refused;
    if (!first) return;
    if (done.length === 1) throw first.error;
    const there = done.filter(({ workspace }) => !names.has(workspace)).map(({ workspace }) => workspace);
    const others = there.length > 0 ? ` It is taken back in ${there.join(', ')}.` : '';
    throw new Error(`${refused.map(({ workspace, error }) => `in ${workspace}: ${error.message}`).join(' ')}${others}`);
  };
}
