import { isKind, type WantedResource } from '../resource.ts';
import type { ValuePath } from '../value-path.ts';
import { type Fault, reportOn } from './finding.ts';

/** An id or a path that two notifications carry would mix up who was told: mostly a file copied after an export. */
export function checkIdentities(resources: readonly WantedResource[], faults: Fault[]): void {
  const holders = new Map<string, WantedResource['ref']>();
  for (const resource of resources) {
    if (!isKind(resource, 'notification')) continue;
    const { ref, body } = resource;
    const report = reportOn(ref, faults, []);
    const claim = (path: ValuePath, what: string, value: string | undefined): void => {
      if (value === undefined) return;
      const holder = holders.get(`${what} ${value}`);
      if (holder === undefined) {
        holders.set(`${what} ${value}`, ref);
        return;
      }
      report.fault(path, { code: 'identity_taken', facts: { what, holder: holder.name } });
    };
    claim(['id'], 'id', body.id);
    for (const [name, rule] of Object.entries(body.rules)) {
      claim(['rules', name, 'id'], 'id', rule.id);
      claim(['rules', name, 'path'], 'path', rule.path);
    }
  }
}
