import { canonical } from './configuration.ts';

/** One value that changes. Undefined if the key is absent. Lists are compared as a whole. */
export type Difference = { readonly path: string; readonly before: unknown; readonly after: unknown };

/** Returns every value that differs, by path such as `rules.paid.when`, in the order of the keys. */
export function differencesOf(before: unknown, after: unknown, path = ''): readonly Difference[] {
  if (isGroup(before) && isGroup(after)) {
    const names = new Set([...Object.keys(before), ...Object.keys(after)]);
    return [...names].flatMap((name) =>
      differencesOf(
        Object.hasOwn(before, name) ? before[name] : undefined,
        Object.hasOwn(after, name) ? after[name] : undefined,
        path === '' ? name : `${path}.${name}`,
      ),
    );
  }
  return canonical(before) === canonical(after) ? [] : [{ path, before, after }];
}

const isGroup = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
