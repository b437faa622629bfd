import { foldConfiguration, type Configuration, type Draft, type ResourceRef } from '@carillon/domain/configuration';
import { CarillonError } from '@carillon/kernel';
import type { VisibleScope } from '../access/visible-scope.ts';
import type { ControlPorts, PlanningPorts } from '../ports.ts';
import { faultBody } from '../resources/publish-resources.ts';
import { draftsOf, planDraftsOver } from './plan-drafts.ts';

/** Mistakes that are named at once. */
const MAX_NAMED = 5;

/**
 * The configuration as publishing the drafts of a workspace would make it; nothing is published. Drafts of others that have mistakes
 * are left out, so that they keep nobody from trying `tried`. Throws `invalid_configuration` where that one has mistakes; null: all are others.
 */
export async function configurationWithDrafts(
  workspace: string,
  tried: Pick<ResourceRef, 'kind' | 'name'> | null,
  ports: PlanningPorts & Pick<ControlPorts, 'drafts'>,
): Promise<Configuration> {
  const current = await ports.configuration.refresh();
  const all = await draftsOf(workspace, ports);
  const isTried = ({ ref }: Pick<Draft, 'ref'>): boolean => ref.kind === tried?.kind && ref.name === tried.name;
  let drafts = all;
  for (;;) {
    const { faults, record } = await planDraftsOver(current, drafts, ports);
    if (faults.length === 0) {
      return foldConfiguration(current, { changes: [...record] }, current.number + 1).configuration;
    }
    const own = faults.filter(isTried);
    const wrong = new Set(faults.map(({ ref }) => `${ref.kind} ${ref.name}`));
    const rest = drafts.filter(({ ref }) => !wrong.has(`${ref.kind} ${ref.name}`));
    if (own.length === 0 && rest.length < drafts.length) {
      drafts = rest;
      continue;
    }
    const named = (own.length > 0 ? own : faults).slice(0, MAX_NAMED);
    const words = named.map(({ path, message, fix }) => `${path === '' ? '' : `${path}: `}${message}; ${fix}`);
    throw new CarillonError('invalid_configuration', words.join('\n'), { faults: named.map(faultBody) });
  }
}

/** What a check or a preview goes by: what is published, or with `drafts` what publishing the workspace's drafts would make. */
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
