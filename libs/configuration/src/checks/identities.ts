import type { NotificationBody } from '@carillon/domain';
import { whereOf } from './expressions.ts';
import type { DesiredResource } from '../files/desired.ts';
import type { FileFault, ValuePath } from '../files/place.ts';
import type { YamlSource } from '../files/yaml-source.ts';

/** An id or a path that two files carry would mix up who was told: mostly a file copied after an export. */
export function checkIdentities(
  read: readonly { readonly resource: DesiredResource; readonly source: YamlSource }[],
  faults: FileFault[],
): void {
  const holders = new Map<string, string>();
  const claim = (source: YamlSource, path: ValuePath, what: string, value: string | undefined): void => {
    if (value === undefined) return;
    const holder = holders.get(`${what} ${value}`);
    if (holder === undefined) {
      holders.set(`${what} ${value}`, source.file);
      return;
    }
    faults.push({
      ...whereOf(source, path),
      message: `${holder} already has the ${what} ${value}`,
      expected: `each ${what} once`,
      fix: `remove ${what} from the copy: it gets one of its own`,
    });
  };
  for (const { resource, source } of read) {
    if (resource.ref.kind !== 'notification') continue;
    const body = resource.body as NotificationBody;
    claim(source, ['id'], 'id', body.id);
    for (const [name, rule] of Object.entries(body.rules)) {
      claim(source, ['rules', name, 'id'], 'id', rule.id);
      claim(source, ['rules', name, 'path'], 'path', rule.path);
    }
  }
}
