import type { CohortBodyShown } from '@carillon/contracts';
import { seg, type CommonOptions, type Page } from '../client.ts';
import { paint, shortTime, table } from '../output.ts';
import { answer } from './api-command.ts';

export type CohortOptions = CommonOptions & { readonly limit: string; readonly cursor?: string };

/** Prints the cohorts that an analytics platform reports, and how complete each list of members is. */
export async function printCohorts(name: string, options: CohortOptions): Promise<void> {
  await answer(
    options,
    (client) =>
      client.get<Page<CohortBodyShown>>(`/v1/workspaces/${seg(client.reach)}/integrations/${seg(name)}/cohorts`, {
        limit: options.limit,
        ...(options.cursor !== undefined && { cursor: options.cursor }),
      }),
    showCohorts,
  );
}

function showCohorts(page: Page<CohortBodyShown>): string {
  if (page.items.length === 0) return paint('dim', 'no cohort has arrived yet');
  const rows = page.items.map((one) => [
    one.id,
    one.name ?? '',
    String(one.members),
    shortTime(one.newest_at),
    syncWords(one),
  ]);
  return table(rows, ['cohort', 'name', 'members', 'newest', 'sync']);
}

function syncWords({ sync, skipped, first_sync_until: until }: CohortBodyShown): string {
  const words = [
    ...(sync === null ? ['differences only'] : [pagesWords(sync)]),
    ...(until === null ? [] : [`first sync until ${shortTime(until)}`]),
    ...(skipped === 0 ? [] : [`${skipped} without a user id`]),
  ];
  return words.join('; ');
}

function pagesWords({ names_nobody: nobody, ...sync }: NonNullable<CohortBodyShown['sync']>): string {
  const { complete, leaving, pages, pages_so_far: come } = sync;
  if (nobody)
    return `all ${come} pages, no member with a user id: look at user_id of the integration; no members leave`;
  if (leaving) return `all ${come} pages, members are leaving`;
  return complete ? `whole, ${come} pages` : `${come} of ${pages ?? '?'} pages so far`;
}
