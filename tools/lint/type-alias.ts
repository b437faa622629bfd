import type { Rule } from './rule.ts';

/** `type` over `interface`; an interface is right only where it adds to one that someone else declared. */
export const typeAlias: Rule = {
  meta: { type: 'suggestion' },
  create(context) {
    return {
      TSInterfaceDeclaration(node) {
        let outer: { type: string; parent?: unknown } | null = node.parent;
        while (outer && outer.type !== 'TSModuleDeclaration' && outer.type !== 'TSGlobalDeclaration') {
          outer = outer.parent as typeof outer;
        }
        if (!outer)
          context.report({ node: node.id, message: `write type ${node.id.name} = { … } in place of an interface` });
      },
    };
  },
};
