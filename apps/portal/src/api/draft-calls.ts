import { api, bodyOf, Refusal, type Schemas } from './client.ts';

type Notification = Schemas['NotificationBodyInput'];
type WithDefault = 'transactional' | 'enabled' | 'cors_origins' | 'expires' | 'in_doubt' | 'channels' | 'rules';
type Rule = Notification['rules'][string];
type RuleDefaults = 'enabled' | 'open_recipients' | 'changes' | 'if_past';
type LooseRule = Omit<Rule, RuleDefaults> & Partial<Pick<Rule, RuleDefaults>>;
/** A notification as it is written: what has a default may be left out, and a draft may lack the rest. */
type LooseNotification = Omit<Notification, WithDefault> &
  Partial<Pick<Notification, Exclude<WithDefault, 'rules'>>> & { readonly rules?: { [name: string]: LooseRule } };

type Stream = Schemas['StreamBodyInput'];
type From = NonNullable<Stream['from']>;
type LooseStream = Omit<Stream, 'format' | 'cors_origins' | 'from'> &
  Partial<Pick<Stream, 'format' | 'cors_origins'>> & {
    readonly from?: Omit<From, 'without'> & Partial<Pick<From, 'without'>>;
  };

/** What can be edited, by its segment of the API's addresses; `workspace` is the workspace's own settings, whose name is empty. */
export type Bodies = {
  readonly notifications: LooseNotification;
  readonly templates: Schemas['TemplateBodyInput'];
  readonly layouts: Schemas['LayoutBodyInput'];
  readonly partials: Schemas['PartialBodyInput'];
  readonly streams: LooseStream;
  readonly integrations: Schemas['IntegrationBodyInput'];
  readonly accounts: Schemas['AccountBodyInput'];
  readonly 'jwt-providers': Schemas['JwtProviderBodyInput'];
  /** All of it has defaults, which may be left out. */
  readonly workspace: Partial<Schemas['WorkspaceBodyInput']>;
};
export type Editable = keyof Bodies;
export type Address = { readonly kind: Editable; readonly workspace: string; readonly name: string };

/** A resource as it counts now. */
export type Published<Kind extends Editable = Editable> = Omit<Schemas['NotificationResource'], 'kind' | 'body'> & {
  readonly kind: string;
  readonly body: Bodies[Kind];
};
export type Draft = Schemas['Draft'];
type Json = { [key: string]: unknown };

const SEGMENTS: Readonly<Record<string, Editable>> = {
  notification: 'notifications',
  template: 'templates',
  layout: 'layouts',
  partial: 'partials',
  stream: 'streams',
  integration: 'integrations',
  account: 'accounts',
  jwt_provider: 'jwt-providers',
  workspace: 'workspace',
};
/** The segment of a kind as answers name it: `jwt_provider` is at `jwt-providers`. */
export const segmentOf = (kind: string): Editable => SEGMENTS[kind] ?? 'workspace';

/** Drafts of a workspace, in the cache. */
export const DRAFTS = '/v1/workspaces/{workspace}/drafts';

async function orNothing<Body>(asked: Promise<Body>): Promise<Body | null> {
  try {
    return await asked;
  } catch (error) {
    if (error instanceof Refusal && error.status === 404) return null;
    throw error;
  }
}

/** The resource as it counts; null: there is none. */
export function readPublished<Kind extends Editable>(
  { kind, workspace, name }: Address & { readonly kind: Kind },
  signal?: AbortSignal,
): Promise<Published<Kind> | null> {
  const init = { params: { path: { workspace, name } }, ...(signal && { signal }) };
  // The addresses of all kinds have one shape; the body is that of the kind.
  const asked =
    kind === 'workspace'
      ? bodyOf(api.GET('/v1/workspaces/{workspace}', init))
      : bodyOf(
          api.GET(
            `/v1/workspaces/{workspace}/${kind}/{name}` as '/v1/workspaces/{workspace}/notifications/{name}',
            init,
          ),
        );
  return orNothing(asked as Promise<unknown> as Promise<Published<Kind>>);
}

const OWN = '/v1/workspaces/{workspace}/settings/draft';
const NAMED = '/v1/workspaces/{workspace}/{kind}/{name}/draft';

/** Where a draft is, for a shell. */
export const draftPath = ({ kind, workspace, name }: Address): string =>
  kind === 'workspace'
    ? `/v1/workspaces/${workspace}/settings/draft`
    : `/v1/workspaces/${workspace}/${kind}/${name}/draft`;

export function readDraft({ kind, workspace, name }: Address): Promise<Draft | null> {
  return orNothing(
    bodyOf(
      kind === 'workspace'
        ? api.GET(OWN, { params: { path: { workspace } } })
        : api.GET(NAMED, { params: { path: { workspace, kind, name } } }),
    ),
  );
}

/** Both. What the list of drafts says is not there is not asked for: a browser complains of each such answer. */
export async function readBoth(
  address: Address,
): Promise<{ readonly resource: Published | null; readonly draft: Draft | null }> {
  const { kind, workspace, name } = address;
  const { items, next } = await bodyOf(api.GET(DRAFTS, { params: { path: { workspace }, query: { limit: 500 } } }));
  const facts = items.find((one) => segmentOf(one.kind) === kind && one.name === name);
  const [resource, draft] = await Promise.all([
    facts?.number === null ? null : readPublished(address),
    facts || next !== null ? readDraft(address) : null,
  ]);
  return { resource, draft };
}

export type Saving = {
  readonly body: unknown;
  /** The saving that this one follows; null: there is no draft yet. */
  readonly revision: string | null;
  /** Number of the resource that its author has seen; undefined: what the draft is based on already. */
  readonly basedOn: number | null | undefined;
};

/** Saves a draft whole. Throws a Refusal with status 412 where somebody else saved, published or discarded it meanwhile. */
export function saveDraft({ kind, workspace, name }: Address, { body, revision, basedOn }: Saving): Promise<Draft> {
  const headers = revision === null ? { 'if-none-match': '*' } : { 'if-match': `"d${revision}"` };
  const said = { body: body as Json | null, ...(basedOn !== undefined && { based_on: basedOn }) };
  return bodyOf(
    kind === 'workspace'
      ? api.PUT(OWN, { params: { path: { workspace } }, headers, body: said })
      : api.PUT(NAMED, { params: { path: { workspace, kind, name } }, headers, body: said }),
  );
}

/** Discards a draft and answers how it is put back: as it was, over what it was based on; null where that was taken back by a restore. */
export async function discardUndoably(address: Address, revision: string): Promise<(() => Promise<Draft>) | null> {
  const draft = await readDraft(address);
  await discardDraft(address, revision);
  if (draft === null || (draft.based_on ?? 0) < 0) return null;
  return () => saveDraft(address, { body: draft.body, revision: null, basedOn: draft.based_on });
}

/** Throws a Refusal with status 412 where it was saved since. */
export async function discardDraft({ kind, workspace, name }: Address, revision: string): Promise<void> {
  const headers = { 'if-match': `"d${revision}"` };
  await bodyOf(
    kind === 'workspace'
      ? api.DELETE(OWN, { params: { path: { workspace } }, headers })
      : api.DELETE(NAMED, { params: { path: { workspace, kind, name } }, headers }),
  );
}
