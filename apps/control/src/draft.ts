import { listResources, type Configuration } from '@carillon/domain/configuration';
import type { VisibleScope } from './access/visible-scope.ts';

/** Returns the scope over an unpublished configuration. For callers who see all workspaces it includes new ones. */
export const sightOver = (draft: Configuration, { workspace, sees }: VisibleScope): VisibleScope => {
  const names = listResources(draft, 'workspace').map(({ ref }) => ref.workspace);
  return { workspace, sees, names: workspace === undefined ? names.filter(sees) : [workspace] };
};
