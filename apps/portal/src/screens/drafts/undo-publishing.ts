import { api, bodyOf } from '../../api/client.ts';
import { discardDraft, readPublished, saveDraft, segmentOf, type Draft } from '../../api/draft-calls.ts';
import type { Undo } from '../../ui/notices.ts';
import type { DraftFacts } from './queries.ts';

/** Publishes drafts of a workspace, all or none. Resolves to the version of the configuration, or null if nothing changed. */
export async function publishSavings(
  workspace: string,
  savings: readonly Pick<Draft, 'kind' | 'name' | 'revision'>[],
  message: string,
): Promise<number | null> {
  const body = {
    drafts: savings.map(({ kind, name, revision }) => ({ kind, name, revision })),
    ...(message !== '' && { message }),
  };
  const path = { workspace };
  const { new_number: number } = await bodyOf(
    api.POST('/v1/workspaces/{workspace}/drafts/publish', { params: { path }, body }),
  );
  return number;
}

/**
 * Reads what these drafts will replace. Returns a function that undoes the publication by publishing the previous
 * versions, all or nothing. It rejects if someone changed or published one of the resources since.
 */
export async function undoOf(workspace: string, drafts: readonly DraftFacts[]): Promise<(number: number) => Undo> {
  const before = await Promise.all(
    drafts
      .filter(({ state }) => state === 'open')
      .map(async ({ kind, name, number, action }) => {
        const address = { kind: segmentOf(kind), workspace, name };
        const body = number === null ? null : ((await readPublished(address))?.body ?? null);
        return { address, body, isRemoved: action === 'delete' };
      }),
  );
  return (number) => async () => {
    const savings: Draft[] = [];
    try {
      for (const { address, body, isRemoved } of before) {
        savings.push(await saveDraft(address, { body, revision: null, basedOn: isRemoved ? null : number }));
      }
      await publishSavings(workspace, savings, `Undo of configuration ${number}`);
    } catch (error) {
      await Promise.allSettled(
        savings.map(({ kind, name, revision }) => discardDraft({ kind: segmentOf(kind), workspace, name }, revision)),
      );
      throw error;
    }
  };
}
