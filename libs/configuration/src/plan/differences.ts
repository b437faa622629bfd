import { canonical } from '@carillon/domain/configuration';
import { isGroup, pathText, type ValuePath } from '../value-path.ts';

/** One value that changes. Undefined: the key is not there. Lists are compared whole. */
export type Difference = { readonly path: string; readonly before: unknown; readonly after: unknown };

/** Every value that differs, by path, in the order of the keys. */
export function differencesOf(before: unknown, after: unknown, path: ValuePath = []): readonly Difference[] {
  if (isGroup(before) && isGroup(after)) {
    const names = new Set([...Object.keys(before), ...Object.keys(after)]);
    return [...names].flatMap((name) =>
      differencesOf(
        Object.hasOwn(before, name) ? before[name] : undefined,
        Object.hasOwn(after, name) ? after[name] : undefined,
        [...path, name],
      ),
    );
  }
  return canonical(before) === canonical(after) ? [] : [{ path: pathText(path), before, after }];
}
