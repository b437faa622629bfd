/** A reference to a secret in the body of a resource. */
export type PlacedSecret = { readonly name: string; readonly path: readonly string[] };

/** Every `{ secret: NAME }` in the body of a resource, whatever its kind. */
export function secretsIn(body: unknown, path: readonly string[] = []): readonly PlacedSecret[] {
  if (typeof body !== 'object' || body === null) return [];
  const entries = Object.entries(body);
  const [first] = entries;
  if (entries.length === 1 && first?.[0] === 'secret' && typeof first[1] === 'string')
    return [{ name: first[1], path }];
  return entries.flatMap(([key, value]) => secretsIn(value, [...path, key]));
}

/**
 * The variable that is named for a workspace: `CARILLON_SECRET_SHOP__CRM_KEY` for CRM_KEY of `shop`. Null for a workspace
 * with two hyphens in a row: its variables could be another one's.
 */
export const variableFor = (workspace: string, name: string): string | null =>
  workspace.includes('--') ? null : `CARILLON_SECRET_${workspace.toUpperCase().replaceAll('-', '_')}__${name}`;
