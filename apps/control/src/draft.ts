import { foldConfiguration, listResources, type Configuration } from '@carillon/domain/configuration';
import { CarillonError } from '@carillon/kernel';
import type { VisibleScope } from './access/visible-scope.ts';
import { planFolder } from './configuration.ts';
import type { PlanningPorts } from './ports.ts';

/** Mistakes of a folder that are named at once. */
const MAX_NAMED = 10;

/**
 * The configuration that applying a folder would make; nothing is published. Throws `invalid_configuration` with the mistakes of the
 * folder.
 */
export async function draftOf(files: Readonly<Record<string, string>>, ports: PlanningPorts): Promise<Configuration> {
  const { body, changes } = await planFolder({ files, prune: false }, ports);
  if (body.faults.length > 0) {
    const named = body.faults
      .slice(0, MAX_NAMED)
      .map(({ file, line, column, message, fix }) => `${file}:${line}:${column} ${message}; ${fix}`);
    throw new CarillonError('invalid_configuration', named.join('\n'));
  }
  const current = ports.configuration.current();
  const { configuration, voided } = foldConfiguration(current, { changes }, current.number + 1);
  if (voided.length === 0) return configuration;
  throw new CarillonError('conflict', 'the configuration changed meanwhile; try again');
}

/** A sight over a configuration that is not published: its new workspaces are in it for whoever sees all. */
export const sightOver = (draft: Configuration, { workspace, sees }: VisibleScope): VisibleScope => {
  const names = listResources(draft, 'workspace').map(({ ref }) => ref.workspace);
  return { workspace, sees, names: workspace === undefined ? names.filter(sees) : [workspace] };
};
