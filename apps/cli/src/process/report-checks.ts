import type { Check } from '@carillon/control';
import { deploymentRef, findResource, listResources, type Configuration } from '@carillon/domain/configuration';
import type { BounceSettings } from '@carillon/ports';

/** Returns the checks of `doctor` for reports by mail: whether accounts that expect reports can receive them. */
export function reportChecks(configuration: Configuration, bounces: BounceSettings | null): readonly Check[] {
  const deployment = findResource(configuration, 'deployment', deploymentRef.workspace, deploymentRef.name);
  const accounts = [
    ...Object.values(deployment?.body.accounts ?? {})
      .flat()
      .map((body) => ({ name: 'default', body })),
    ...listResources(configuration, 'account').map(({ ref, body }) => ({ name: `${ref.workspace}/${ref.name}`, body })),
  ];
  const returning = accounts.filter(({ body }) => 'return_path' in body && body.return_path !== undefined);
  if (returning.length === 0 && bounces === null) return [];
  if (bounces === null) {
    const names = returning.map(({ name }) => name).join(', ');
    const detail = `return_path is set (${names}), but no listener accepts bounce mail: set bounces.listen in carillon.yaml for control and gateway`;
    return [{ step: 'bounces', ok: false, detail }];
  }
  const where = `${bounces.protocol.toUpperCase()} ${bounces.host}:${bounces.port}`;
  const uses =
    returning.length === 0 ? 'no account has a return_path yet' : `accounts with a return_path: ${returning.length}`;
  return [{ step: 'bounces', ok: true, detail: `listens for bounce mail on ${where}; ${uses}` }];
}
