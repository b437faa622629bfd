import type { DraftsPlan } from './queries.ts';

/** What names a resource. */
export type Ref = { readonly kind: string; readonly workspace: string; readonly name: string };
type Plan = Pick<DraftsPlan, 'changes' | 'files'>;

/** Changes of a plan that are of one resource. */
export const changesOf = (plan: Plan | undefined, { kind, workspace, name }: Ref) => {
  const title = `${kind.replace('_', ' ')} ${name === '' ? workspace : `${workspace}/${name}`}`.toLowerCase();
  return (plan?.changes ?? []).filter(({ resource }) => resource.toLowerCase() === title);
};

const FOLDERS: Readonly<Record<string, string>> = { jwt_provider: 'jwt-providers', workspace: '' };
/** Files of a plan that belong to one resource: `…/notifications/order-paid.yaml`, `…/templates/order-paid/email.html`. */
export function filesOf(plan: Plan | undefined, { kind, workspace, name }: Ref): Plan['files'] {
  const below = `workspaces/${workspace}/${FOLDERS[kind] ?? `${kind}s`}`;
  const isOwn = ({ path }: { readonly path: string }): boolean =>
    kind === 'workspace'
      ? path === `workspaces/${workspace}/workspace.yaml`
      : path.startsWith(`${below}/${name}.`) || path.startsWith(`${below}/${name}/`);
  return (plan?.files ?? []).filter(isOwn);
}
