import { freeNames } from './references.ts';
import type { Rule } from './rule.ts';
import { isConfig, isTest, pathOf, projectOf } from './workspace.ts';

/** Where the environment may be read: configuration of an app or an example, the runtime, tools and tests. */
const mayRead = (path: string): boolean =>
  isTest(path) ||
  isConfig(path) ||
  path.startsWith('tools/') ||
  /^(?:apps|docs\/examples)\/[^/]+\/src\/.*config[^/]*\.ts$/.test(path) ||
  ['runtime', 'testing'].includes(projectOf(path)?.tag ?? '');

const MESSAGE =
  'process.env is read in configuration only (apps/*/src/**config*.ts, libs/runtime): take it as an argument';

/** `process.env` and every way around it: an alias of process, an import of node:process, globalThis.process. */
export const environment: Rule = {
  meta: { type: 'problem' },
  create(context) {
    if (mayRead(pathOf(context.filename))) return {};
    return {
      Program() {
        for (const { name, node, isType } of freeNames(context)) {
          const user = node.parent;
          if (isType || user?.type === 'TSTypeQuery') continue;
          const member = user?.type === 'MemberExpression' && user.object === node ? user : undefined;
          if (name === 'process') {
            const plain = member && !member.computed && member.property.type === 'Identifier';
            if (!plain || member.property.name === 'env') context.report({ node, message: MESSAGE });
          }
          if (name === 'globalThis' && !(member && !member.computed && member.property.name !== 'process')) {
            context.report({ node, message: MESSAGE });
          }
        }
      },
      ImportDeclaration(node) {
        if (/^(node:)?process$/.test(node.source.value)) context.report({ node, message: MESSAGE });
      },
      ImportExpression({ source }) {
        if (source.type !== 'Literal' || typeof source.value !== 'string') return;
        if (/^(node:)?process$/.test(source.value)) context.report({ node: source, message: MESSAGE });
      },
    };
  },
};
