import { api, bodyOf, Refusal, type Schemas } from '../../api/client.ts';
import type { Bodies } from '../../api/draft-calls.ts';
import { meQuery } from '../../api/me.ts';
import { queryClient } from '../../api/query-client.ts';
import { statusQuery } from '../../api/status.ts';
import { faultText } from '../../faults/fault-text.ts';
import type { Call } from '../../ui/curl-words.ts';
import { counted } from '../drafts/change-words.ts';
import { workspacesQuery } from '../promote/queries.ts';
import { withValue } from '../setup/parts.ts';

export type Settings = Bodies['workspace'];
/** A workspace with what its settings say. */
export type Known = { readonly workspace: string; readonly body: Settings };

/** There is none of this name: whoever was faster keeps what they made. */
const NEW = { 'if-none-match': '*' } as const;

/** The same call for a shell. */
export const makingCall = (name: string, body: Settings): Call => ({
  method: 'PUT',
  path: `/v1/workspaces/${encodeURIComponent(name || '<name>')}`,
  headers: NEW,
  body,
});

/** Makes a workspace; it counts at once. Afterwards everything on the page knows of it, and of what one may do in it. */
export async function makeWorkspace(name: string, body: Settings): Promise<void> {
  // What has a default may be left out, which the description of the API cannot say of what is sent.
  const sent = body as Schemas['WorkspaceBodyInput'];
  const params = { path: { workspace: name } };
  await bodyOf(api.PUT('/v1/workspaces/{workspace}', { params, headers: NEW, body: sent }));
  await Promise.all(
    [statusQuery, workspacesQuery, meQuery].map(({ queryKey }) => queryClient.invalidateQueries({ queryKey })),
  );
}

/** What a test environment of a workspace begins as: its settings, and that nothing of it leaves the deployment. */
export const testBodyOf = ({ workspace, body }: Known): Settings => ({
  ...withValue(body, ['allow_real_accounts'], undefined),
  name: `${body.name ?? workspace} (test)`,
  environment: 'test',
  of: workspace,
});

/** Most characters of a name. */
const LONGEST = 63;

/** `shop-test`, or the first `shop-test-2` that is free. */
export function testNameOf(workspace: string, taken: readonly string[]): string {
  for (let at = 1; ; at += 1) {
    const end = at === 1 ? '-test' : `-test-${at}`;
    const name = `${workspace.slice(0, LONGEST - end.length)}${end}`;
    if (!taken.includes(name)) return name;
  }
}

/** Why a name cannot even be asked for; null: the server says whether it can be used. */
export function nameFault(name: string, taken: readonly string[]): string | null {
  if (taken.includes(name)) return `There is a workspace ${name} already. Give another name.`;
  // In an address these are steps and no names: the server would be asked for something else.
  return /^\.{1,2}$/.test(name) ? `The name "${name}" cannot be used. Choose another name.` : null;
}

/** What the server said of each field, and `rest`: what is about none of them. */
export function refusedFields(error: Error | null, name: string) {
  const faults = error instanceof Refusal ? error.faults : [];
  const at = (path: string): string | null => {
    const found = faults.find((fault) => fault.path === path);
    return found ? faultText(found) : null;
  };
  // Somebody was faster: their words are for programs, which would read it again.
  const isTaken = error instanceof Refusal && error.status === 412;
  const isLong = error instanceof Refusal && error.pointer === '/workspace';
  const ofName = isTaken ? nameFault(name, [name]) : isLong ? error.message : at('');
  const fields = { '': ofName, name: at('name'), time_zone: at('time_zone'), locale: at('locale') };
  const isSaid = Object.values(fields).some((words) => words !== null);
  return { fields, rest: isSaid ? null : error };
}

/** Kinds in the order in which they are told, one and many. */
const KINDS: readonly (readonly [kind: string, one: string, many: string])[] = [
  ['notification', 'notification', 'notifications'],
  ['template', 'template', 'templates'],
  ['layout', 'layout', 'layouts'],
  ['partial', 'partial', 'partials'],
  ['stream', 'shared stream', 'shared streams'],
  ['integration', 'integration', 'integrations'],
  ['account', 'account', 'accounts'],
  ['jwt_provider', 'JWT provider', 'JWT providers'],
  ['api_key', 'API key', 'API keys'],
];

/** What goes with a workspace, and whom it was for. */
export function removalWords({ resources, members, secrets, drafts, told }: Schemas['WorkspaceRemoval']): string {
  const held = KINDS.flatMap(([kind, one, many]) => {
    const count = resources[kind] ?? 0;
    return count === 0 ? [] : [counted(count, one, many)];
  });
  const parts = [
    ...held,
    ...(secrets === 0 ? [] : [counted(secrets, 'secret')]),
    ...(drafts === 0 ? [] : [counted(drafts, 'draft')]),
  ];
  const what = parts.length === 0 ? 'It is empty.' : `It also removes ${parts.join(', ')}.`;
  const roles = members === 0 ? '' : ` ${counted(members, 'member loses', 'members lose')} a role in it.`;
  return `${what}${roles} ${counted(told, 'person was', 'people were')} notified by it.`;
}
