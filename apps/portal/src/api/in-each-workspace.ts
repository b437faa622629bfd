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
