import type {
  AccountBody,
  ApiKeyBody,
  ConfigurationRecord,
  DeploymentBody,
  NotificationBody,
  ResourceBodies,
  ResourceChange,
  ResourceKind,
  ResourceRef,
  RuleBody,
  StreamBody,
  TemplateBody,
  WorkspaceBody,
} from './resources.ts';
import { resourceKey } from './resources.ts';
import { ruleIdFrom, rulePathFrom } from './rule-names.ts';

/** A resource as the configuration of some number holds it. */
export type Resource<Kind extends ResourceKind = ResourceKind> = {
  readonly ref: ResourceRef<Kind>;
  readonly body: ResourceBodies[Kind];
  /** Number of the configuration that gave it this body: the value of `If-Match`. */
  readonly number: number;
  /** Counts the published bodies of a template, 1 for the first. */
  readonly version: number;
  /** Version of each rule of a notification, counted by changes to that rule alone. */
  readonly ruleVersions: Readonly<Record<string, number>>;
};

/**
 * The configuration of one number: the result of all records up to it. Immutable, and older numbers stay valid, so that
 * an event is always evaluated by its own (architecture section 5).
 */
export type Configuration = {
  /** Position of the newest record folded in; -1 before the first. */
  readonly number: number;
  readonly resources: ReadonlyMap<string, Resource>;
  /**
   * Number of the configuration that put a rule on its stream, by `ruleKey`. A rule that is removed, or that leaves its stream, has
   * another number when it comes back. Missing: no record was folded in.
   */
  readonly rulesSince?: ReadonlyMap<string, number>;
};

export const EMPTY_CONFIGURATION: Configuration = { number: -1, resources: new Map() };

const sameBody = (a: unknown, b: unknown): boolean => canonical(a) === canonical(b);

/** JSON with sorted names: equal text means equal content. */
export function canonical(value: unknown): string {
  return JSON.stringify(value, (_name, item: unknown) =>
    typeof item === 'object' && item !== null && !Array.isArray(item)
      ? Object.fromEntries(Object.entries(item).toSorted(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0)))
      : item,
  );
}

function nextRuleVersions(before: Resource | undefined, body: NotificationBody): Record<string, number> {
  const old = (before?.body as NotificationBody | undefined)?.rules ?? {};
  const versions = before?.ruleVersions ?? {};
  return Object.fromEntries(
    Object.entries(body.rules).map(([name, rule]) => {
      // A rule may be called `constructor`.
      const known = Object.hasOwn(versions, name) ? (versions[name] ?? 0) : 0;
      return [name, known > 0 && sameBody(old[name], rule) ? known : known + 1];
    }),
  );
}

const ruleKey = (workspace: string, ruleId: string): string => `${workspace} ${ruleId}`;

/** The paths that feed the rules of changed notifications, by `ruleKey`. */
function pathsOfRules(
  resources: ReadonlyMap<string, Resource>,
  changes: readonly ResourceChange[],
): ReadonlyMap<string, string> {
  const paths = new Map<string, string>();
  for (const { ref } of changes) {
    const notification = ref.kind === 'notification' ? resources.get(resourceKey(ref)) : undefined;
    if (!notification) continue;
    for (const [name, rule] of Object.entries((notification.body as NotificationBody).rules)) {
      paths.set(
        ruleKey(ref.workspace, ruleIdFrom(ref.workspace, ref.name, name, rule)),
        rulePathFrom(ref.workspace, ref.name, name, rule),
      );
    }
  }
  return paths;
}

function nextRulesSince(
  before: Configuration,
  after: ReadonlyMap<string, Resource>,
  changes: readonly ResourceChange[],
  number: number,
): ReadonlyMap<string, number> {
  const next = new Map(before.rulesSince);
  const old = pathsOfRules(before.resources, changes);
  const now = pathsOfRules(after, changes);
  for (const rule of old.keys()) if (!now.has(rule)) next.delete(rule);
  for (const [rule, path] of now) if (old.get(rule) !== path) next.set(rule, number);
  return next;
}

/** Returns the number of the configuration that put a rule on its stream. Null: the configuration does not say. */
export const ruleSince = ({ rulesSince }: Configuration, workspace: string, ruleId: string): number | null =>
  rulesSince?.get(ruleKey(workspace, ruleId)) ?? null;

function applyChange(resources: Map<string, Resource>, change: ResourceChange, number: number): void {
  const key = resourceKey(change.ref);
  const before = resources.get(key);
  if (change.body === null) {
    resources.delete(key);
    return;
  }
  resources.set(key, {
    ref: change.ref,
    body: change.body,
    number,
    version: (before?.version ?? 0) + 1,
    ruleVersions: change.ref.kind === 'notification' ? nextRuleVersions(before, change.body as NotificationBody) : {},
  });
}

/**
 * Applies one record. If any change in it is based on an older number than that of its resource, the record has no
 * effect except that the number advances. Every reader gets the same result.
 */
export function foldConfiguration(
  before: Configuration,
  record: Pick<ConfigurationRecord, 'changes'>,
  number: number,
): { readonly configuration: Configuration; readonly voided: readonly ResourceRef[] } {
  const voided = record.changes
    .filter((change) => (before.resources.get(resourceKey(change.ref))?.number ?? null) !== change.based_on)
    .map((change) => change.ref);
  if (voided.length > 0) return { configuration: { ...before, number }, voided };
  const resources = new Map(before.resources);
  for (const change of record.changes) applyChange(resources, change, number);
  const isOfRules = record.changes.some(({ ref }) => ref.kind === 'notification');
  const since = isOfRules ? nextRulesSince(before, resources, record.changes, number) : before.rulesSince;
  return { configuration: { number, resources, ...(since && { rulesSince: since }) }, voided };
}

/** Returns the workspaces that have any resource. */
export const workspacesOf = ({ resources }: Pick<Configuration, 'resources'>): ReadonlySet<string> =>
  new Set([...resources.values()].map(({ ref }) => ref.workspace));

export function findResource<Kind extends ResourceKind>(
  configuration: Configuration,
  kind: Kind,
  workspace: string,
  name: string,
): Resource<Kind> | undefined {
  return configuration.resources.get(resourceKey({ kind, workspace, name })) as Resource<Kind> | undefined;
}

/** Lists all resources of a kind, optionally of one workspace, sorted by workspace and name. */
export function listResources<Kind extends ResourceKind>(
  configuration: Configuration,
  kind: Kind,
  workspace?: string,
): readonly Resource<Kind>[] {
  return [...configuration.resources.values()]
    .filter((item) => item.ref.kind === kind && (workspace === undefined || item.ref.workspace === workspace))
    .toSorted((a, b) => (resourceKey(a.ref) < resourceKey(b.ref) ? -1 : 1)) as Resource<Kind>[];
}

export const deploymentRef: ResourceRef<'deployment'> = { kind: 'deployment', workspace: '', name: '' };

export type {
  AccountBody,
  ApiKeyBody,
  DeploymentBody,
  NotificationBody,
  RuleBody,
  StreamBody,
  TemplateBody,
  WorkspaceBody,
};
