import type { Context } from './rule.ts';

type Scopes = Context['sourceCode']['scopeManager'];
type Identifier = Scopes['scopes'][number]['through'][number]['identifier'];
export type Free = { readonly name: string; readonly node: Identifier; readonly isType: boolean };

/** Every use of a name that no declaration or import of this file gives: the names that the platform gives. */
export function freeNames(context: Context): readonly Free[] {
  const [top] = context.sourceCode.scopeManager.scopes;
  if (!top) return [];
  const declaredNowhere = top.variables.filter((variable) => variable.defs.length === 0);
  return [...top.through, ...declaredNowhere.flatMap((variable) => variable.references)].map((reference) => ({
    name: reference.identifier.name,
    node: reference.identifier,
    isType: 'isTypeReference' in reference && reference.isTypeReference === true,
  }));
}
