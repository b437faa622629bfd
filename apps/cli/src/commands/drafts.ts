import type { DraftFactsBody, DraftsPlanBody, PublishedDraftsBody } from '@carillon/contracts';
import type { Command } from 'commander';
import { seg, type Client, type CommonOptions, type Page } from '../client.ts';
import { UsageError } from '../failure.ts';
import { clean, paint, shortTime } from '../output.ts';
import { answer, command, pageText } from './api-command.ts';
import { countWords } from './plan-text.ts';
import { changeLines, conflictText, faultLines } from './draft-text.ts';

type ListOptions = CommonOptions & { readonly limit: string; readonly cursor?: string };
type PublishOptions = CommonOptions & { readonly all?: boolean; readonly message?: string };
type Named = { readonly kind: string; readonly name: string };

const NAMES = 'drafts as the list shows them, such as notification/order-paid; workspace for its own settings';

/** `carillon drafts`: what people prepare and have not published. */
export function draftCommands(program: Command): void {
  const drafts = program.command('drafts').description('unpublished edits: list, review, publish, discard');
  command(drafts, 'list', 'list drafts with their author and conflicts')
    .option('--limit <n>', 'maximum number of entries', '50')
    .option('--cursor <cursor>', 'next page: the cursor printed by the previous page')
    .action(async ({ limit, cursor, ...options }: ListOptions) => {
      await answer(
        options,
        async (client) => client.get<Page<DraftFactsBody>>(await pathOf(client), { limit, cursor }),
        (page) => pageText(page, 'no drafts', rowOf, ['saved', 'draft', 'change', 'state', 'by', 'based on', 'now']),
      );
    });

  command(drafts, 'review [drafts...]', 'show what publishing would change, and conflicts')
    .addHelpText('after', `\n${NAMES}; default: all drafts of the workspace`)
    .action(async (names: string[], options: CommonOptions) => {
      const named = names.map(namedDraft);
      const plan = await answer(
        options,
        async (client) => {
          const asked = named.length === 0 ? {} : { drafts: named };
          return client.post<DraftsPlanBody>(`${await pathOf(client)}/plan`, asked);
        },
        showReview,
      );
      if (plan.faults.length > 0) process.exitCode = 2;
      else if (plan.conflicts.length > 0) process.exitCode = 1;
    });

  command(drafts, 'publish [drafts...]', 'publish drafts as one change: all of them or none')
    .option('--all', 'all drafts of the workspace')
    .option('--message <text>', 'reason of the change, shown in the version history')
    .addHelpText('after', `\n${NAMES}`)
    .action(async (names: string[], { all, message, ...options }: PublishOptions) => {
      if (names.length === 0 && !all) throw new UsageError('name the drafts to publish, or pass --all');
      await answer(
        options,
        async (client) => {
          const path = await pathOf(client);
          const wanted = names.length > 0 ? names.map(namedDraft) : (await everyDraft(client, path)).map(nameOf);
          if (wanted.length === 0) throw new UsageError('there are no drafts to publish');
          return client.post<PublishedDraftsBody>(`${path}/publish`, {
            drafts: wanted,
            ...(message !== undefined && { message }),
          });
        },
        showPublished,
      );
    });

  command(drafts, 'discard <draft>', 'delete a draft; the published version stays')
    .addHelpText('after', `\n${NAMES}`)
    .action(async (name: string, options: CommonOptions) => {
      const { kind, name: of } = namedDraft(name);
      await answer(
        options,
        async (client) => {
          const workspace = `/v1/workspaces/${seg(await client.workspace())}`;
          const path = kind === 'workspace' ? 'settings' : `${SEGMENTS[kind] ?? kind}/${seg(of)}`;
          const draft = await client.get<DraftFactsBody>(`${workspace}/${path}/draft`);
          return client.delete<{ discarded: boolean }>(`${workspace}/${path}/draft`, {
            'if-match': `"d${draft.revision}"`,
          });
        },
        () => `the draft of ${clean(name)} is gone`,
      );
    });
}

const SEGMENTS: Readonly<Record<string, string>> = {
  notification: 'notifications',
  template: 'templates',
  layout: 'layouts',
  partial: 'partials',
  stream: 'streams',
  integration: 'integrations',
  account: 'accounts',
  jwt_provider: 'jwt-providers',
};

/** `notification/order-paid`, or `workspace`. */
function namedDraft(text: string): Named {
  const [kind = '', name = '', ...more] = text.split('/');
  if (kind === 'workspace' && name === '') return { kind, name };
  const known = kind.replace('-', '_');
  if (Object.hasOwn(SEGMENTS, known) && name !== '' && more.length === 0) return { kind: known, name };
  throw new UsageError(
    `${text} is not the name of a draft: write kind/name, such as notification/order-paid (${Object.keys(SEGMENTS).join(', ')}), or workspace`,
  );
}

const pathOf = async (client: Client): Promise<string> => `/v1/workspaces/${seg(await client.workspace())}/drafts`;

/** Names the revision too, so that no later edit is published. */
const nameOf = ({ kind, name, revision }: DraftFactsBody) => ({ kind, name, revision });

async function everyDraft(client: Client, path: string): Promise<readonly DraftFactsBody[]> {
  const all: DraftFactsBody[] = [];
  for (let cursor: string | undefined; ;) {
    const page = await client.get<Page<DraftFactsBody>>(path, { limit: '500', cursor });
    all.push(...page.items);
    if (page.next === null) return all;
    cursor = page.next;
  }
}

const WORDS = { open: 'can be published', conflict: 'IN CONFLICT', published: 'counts already' } as const;
const orNone = (number: number | null): string => (number === null ? 'none' : String(number));

function rowOf(draft: DraftFactsBody): readonly string[] {
  const { kind, name, action, state, at, by, based_on: basedOn, number } = draft;
  const title = name === '' ? kind : `${kind}/${name}`;
  return [shortTime(at), clean(title), action, WORDS[state], clean(by.name ?? by.id), orNone(basedOn), orNone(number)];
}

function showReview(plan: DraftsPlanBody): string {
  if (plan.drafts.length === 0) return paint('dim', 'no drafts');
  const { faults, conflicts } = plan;
  const head =
    faults.length > 0
      ? `${countWords(faults.length, 'mistake')}: nothing can be published yet`
      : conflicts.length > 0
        ? `${countWords(conflicts.length, 'draft')} in conflict: choose in the portal, or save it with the number you have seen`
        : 'npx carillon drafts publish --all';
  return [...faultLines(plan), ...changeLines(plan.changes), ...conflicts.map(conflictText), '', head].join('\n');
}

const showPublished = ({ new_number: number, published, changes }: PublishedDraftsBody): string =>
  number === null
    ? `nothing to publish: ${countWords(published.length, 'draft')} changed nothing`
    : [...changeLines(changes), '', `published as configuration ${number}; it applies to every event from now on`].join(
        '\n',
      );
