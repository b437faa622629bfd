import {
  type Configuration,
  findResource,
  hasOwnStream,
  listResources,
  type NotificationBody,
  type Resource,
  resourceKey,
  type RuleBody,
} from '@carillon/domain/configuration';
import type { WantedResource } from '../resource.ts';
import type { Former, PlanOptions, Wanted } from './planned.ts';

type Identified = {
  readonly body: NotificationBody;
  readonly notes: readonly string[];
  readonly formers: readonly Former[];
};

/**
 * Returns the body with its resource's ids and paths, or with new ones. Missing ones come from the notification of the
 * same name, or, if the file has an id, from the notification with that id before a rename.
 */
export function identified(
  current: Configuration,
  { ref, body }: WantedResource<'notification'>,
  wanted: Wanted,
  { newId }: PlanOptions,
): Identified {
  const { workspace, name } = ref;
  const sameName = findResource(current, 'notification', workspace, name);
  const before = body.id === undefined ? sameName : (withId(current, workspace, body.id) ?? sameName);
  const sameIdentity = before !== undefined && (body.id === undefined || before.body.id === body.id);
  // Older notifications have no id: their name is their identity, and a new id would forget who was notified.
  const id = body.id ?? (sameIdentity ? before.body.id : newId('notification', workspace, name));
  const known = sameIdentity ? before.body.rules : {};
  const rules = Object.fromEntries(
    Object.entries(body.rules).map(([ruleName, rule]) => {
      const old = rule.id === undefined ? known[ruleName] : ruleWithId(known, rule.id);
      const own = identifiedRule(rule, old, () => newId('rule', workspace, name, ruleName));
      const path = own.path ?? `${workspace}/${name}.${ruleName}`;
      return [ruleName, hasOwnStream(own) ? { ...own, path } : own];
    }),
  );
  const replaced = sameIdentity ? [] : replacedBy(current, workspace, sameName, wanted);
  return {
    body: { ...body, ...(id !== undefined && { id }), rules },
    notes: notesOf(replaced),
    formers: sameName ? [] : replaced.flatMap(formerOf),
  };
}

const withId = (current: Configuration, workspace: string, id: string): Resource<'notification'> | undefined =>
  listResources(current, 'notification', workspace).find(({ body }) => body.id === id);

const ruleWithId = (rules: Readonly<Record<string, RuleBody>>, id: string): RuleBody | undefined =>
  Object.values(rules).find((rule) => rule.id === id);

function identifiedRule(rule: RuleBody, before: RuleBody | undefined, newId: () => string): RuleBody {
  const id = rule.id ?? (before ? before.id : newId());
  const path = rule.path ?? (hasOwnStream(rule) ? before?.path : undefined);
  return { ...rule, ...(id !== undefined && { id }), ...(path !== undefined && { path }) };
}

/** Returns the notifications that a new one may replace: that of the same name, else the removed ones. */
function replacedBy(
  current: Configuration,
  workspace: string,
  sameName: Resource<'notification'> | undefined,
  wanted: Wanted,
): readonly Resource<'notification'>[] {
  const leaves = listResources(current, 'notification', workspace).filter(({ ref }) => !wanted.has(resourceKey(ref)));
  return sameName ? [sameName] : leaves;
}

const formerOf = ({ ref: { name }, body }: Resource<'notification'>): readonly Former[] =>
  body.id === undefined ? [] : [{ name, title: body.name ?? name, id: body.id }];

function notesOf(replaced: readonly Resource<'notification'>[]): readonly string[] {
  if (replaced.length === 0) return [];
  const names = replaced.map(({ ref, body }) => (body.id === undefined ? ref.name : `${ref.name} (id: ${body.id})`));
  return [`new: nobody has had it yet. If it was called ${names.join(' or ')} before, write that id into the file`];
}
