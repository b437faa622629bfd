import type { ChangeOrigin, ResourceChange } from '@carillon/domain/configuration';
import type { Membership } from '@carillon/domain/people';
import type { Instant } from '@carillon/kernel';
import { publishConfiguration, type ConfigurationHistory } from '@carillon/stages';
import { createDirectory } from '../access/people/directory.ts';
import { draftsOf } from '../drafts/plan-drafts.ts';
import type { ControlPorts, PublishingPorts } from '../ports.ts';

/** A workspace whose last state is its removal. */
type Former = { readonly workspace: string; readonly removedAt: Instant };

/**
 * Publishes changes and returns their number. Deletes secrets and drafts of removed workspaces. Before a workspace is
 * created, deletes roles, tokens and invitations left from an earlier one of the same name, so that nobody gets into
 * another owner's workspace. Rejects with `conflict` like {@link publishConfiguration}.
 */
export async function publishChanges(
  changes: readonly ResourceChange[],
  by: ChangeOrigin,
  ports: PublishingPorts,
): Promise<number> {
  const workspaces = changes.filter(({ ref }) => ref.kind === 'workspace');
  const made = workspaces.filter(({ body }) => body !== null);
  const { log, codecs, configuration: view, ids, clock, readEverywhere } = ports;
  const former = formerOf(made, view.history);
  if (former.length > 0) {
    await endRights(new Set(former.map(({ workspace }) => workspace)), ports);
    for (const one of former) await removeKept(one, ports);
  }
  const publishing = { log, codec: codecs.configuration, view, ids, clock, readEverywhere };
  const number = await publishConfiguration(publishing, changes, by);
  const removed = workspaces.filter(({ body }) => body === null);
  for (const one of formerOf(removed, view.history)) await removeKept(one, ports);
  return number;
}

const formerOf = (changes: readonly ResourceChange[], history: ConfigurationHistory): readonly Former[] =>
  changes.flatMap(({ ref }) => {
    const last = history.statesOf(ref).at(-1);
    return last?.resource === null ? [{ workspace: ref.workspace, removedAt: Date.parse(last.publication.at) }] : [];
  });

async function endRights(
  gone: ReadonlySet<string>,
  ports: Pick<ControlPorts, 'people' | 'ids' | 'clock'>,
): Promise<void> {
  const { people } = ports;
  const directory = createDirectory(ports);
  const without = (memberships: readonly Membership[]): readonly Membership[] =>
    memberships.filter(({ workspace }) => !gone.has(workspace));
  for (const { id, body } of await directory.all('person')) {
    if (without(body.memberships).length === body.memberships.length) continue;
    await directory.changePerson(id, (person) => ({ ...person, memberships: without(person.memberships) }));
  }
  for (const { id, body } of await directory.all('token')) {
    // A token that also covers other workspaces is removed as well, because its author granted them together.
    if (body.workspaces?.some((one) => gone.has(one))) await people.remove('token', id);
  }
  for (const { id, body } of await directory.all('invitation')) {
    if (body.memberships.some(({ workspace }) => gone.has(workspace))) await people.remove('invitation', id);
  }
}

/**
 * Deletes secrets and drafts that are older than the removal. Newer ones belong to the workspace being created, because
 * a secret may be set before the first workspace, and a workspace may begin as a draft.
 */
async function removeKept(
  { workspace, removedAt }: Former,
  { vault, drafts, slice }: Pick<ControlPorts, 'vault' | 'drafts' | 'slice'>,
): Promise<void> {
  for (const { name, updatedAt } of await vault.list(workspace)) {
    if (updatedAt <= removedAt) await vault.remove(workspace, name);
  }
  for (const { ref, revision, at } of await draftsOf(workspace, { drafts, slice })) {
    if (at <= removedAt) await drafts.remove(ref, revision);
  }
}
