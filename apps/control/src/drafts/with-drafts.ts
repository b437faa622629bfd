import type { Configuration, ResourceRef } from '@carillon/domain/configuration';
import { CarillonError } from '@carillon/kernel';
import type { VisibleScope } from '../access/visible-scope.ts';
import type { ControlPorts, PlanningPorts } from '../ports.ts';
import { proposedConfiguration } from './proposed.ts';

/**
 * The configuration as publishing the drafts of a workspace would make it. Drafts of other people that have mistakes are left
 * out, so that the draft `tried` can be tested. Rejects with `invalid_configuration` if `tried` itself has mistakes. With null, every draft
 * with mistakes is left out.
 */
export async function configurationWithDrafts(
  workspace: string,
  tried: Pick<ResourceRef, 'kind' | 'name'> | null,
  ports: PlanningPorts & Pick<ControlPorts, 'drafts'>,
): Promise<Configuration> {
  const isOwn = ({ ref }: { readonly ref: ResourceRef }): boolean =>
    ref.kind === tried?.kind && ref.name === tried.name;
  return (await proposedConfiguration({ kind: 'drafts', workspace, isOwn }, ports)).configuration;
}

/**
 * Returns the configuration for a check or preview: the published one, or with `drafts` the one that publishing the
 * workspace's drafts would give.
 */
export async function configurationTried(
  tried: Pick<ResourceRef, 'kind' | 'name'>,
  drafts: boolean,
  sight: VisibleScope,
  ports: PlanningPorts & Pick<ControlPorts, 'drafts'>,
): Promise<Configuration> {
  if (!drafts) return ports.configuration.current();
  if (sight.workspace === undefined) throw new CarillonError('invalid_request', 'drafts: name the workspace');
  return configurationWithDrafts(sight.workspace, tried, ports);
}
