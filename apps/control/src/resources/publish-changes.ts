import type { ChangeOrigin, Membership, ResourceChange } from '@carillon/domain';
import type { Instant } from '@carillon/kernel';
import { publishConfiguration, type ConfigurationHistory } from '@carillon/stages';
import { createDirectory } from '../access/people/directory.ts';
import type { ControlPorts, PublishingPorts } from '../ports.ts';

/** A workspace that is to be made, and was removed before. */
type Former = { readonly workspace: string; readonly removedAt: Instant };

/**
 * Puts changes into force, and answers their number. A workspace that was removed once begins anew where it is made again: roles, tokens,
 * invitations and stored secrets of before are gone first, so that nobody finds themselves in a workspace of others by its name.
 * Rejects with `conflict` as {@link publishConfiguration} does.
 */
export async function publishChanges(
  changes: readonly ResourceChange[],
  by: ChangeOrigin,
  ports: PublishingPorts,
): Promise<number> {
  const former = formerOf(changes, ports.configuration.history);
  if (former.length > 0) {
    await endRights(new Set(former.map(({ workspace }) => workspace)), ports);
    for (const one of former) await removeSecrets(one, ports);
  }
  const { log, codecs, configuration: view, ids, clock, readEverywhere } = ports;
  return publishConfiguration({ log, codec: codecs.configuration, view, ids, clock, readEverywhere }, changes, by);
}

const formerOf = (changes: readonly ResourceChange[], history: ConfigurationHistory): readonly Former[] =>
  changes.flatMap(({ ref, body }) => {
    if (ref.kind !== 'workspace' || body === null) return [];
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
    // One that reaches others too is ended all the same: whoever made it meant them together.
    if (body.workspaces?.some((one) => gone.has(one))) await people.remove('token', id);
  }
  for (const { id, body } of await directory.all('invitation')) {
    if (body.memberships.some(({ workspace }) => gone.has(workspace))) await people.remove('invitation', id);
  }
}

/** Those that were set since are meant for what is made now: where there is no workspace at all, one may be set before the first. */
async function removeSecrets({ workspace, removedAt }: Former, { vault }: Pick<ControlPorts, 'vault'>): Promise<void> {
  for (const { name, updatedAt } of await vault.list(workspace)) {
    if (updatedAt <= removedAt) await vault.remove(workspace, name);
  }
}
