import { listResources, type Configuration } from '@carillon/domain/configuration';
import type { VisibleScope } from './access/visible-scope.ts';

/** A sight over a configuration that is not published: its new workspaces are in it for whoever sees all. */
export const sightOver = (draft: Configuration, { workspace, sees }: VisibleScope): VisibleScope => {
  const names = listResources(draft, 'workspace').map(({ ref }) => ref.workspace);
  return { workspace, sees, names: workspace === undefined ? names.filter(sees) : [workspace] };
};
