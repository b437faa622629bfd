import law from './boundaries.json' with { type: 'json' };
import { type Free, freeNames } from './references.ts';
import type { Rule } from './rule.ts';
import { isConfig, isTest, pathOf, projectOf } from './workspace.ts';

const LOCAL =
  /^([gs]et(FullYear|Month|Date|Day|Hours|Minutes|Seconds|Milliseconds)|getTimezoneOffset|toLocale\w*String|localeCompare)$/;
const READS_CLOCK_WITHOUT_ARGUMENT = new Set(['format', 'formatToParts']);

/** Why this use of a platform name makes the result depend on more than the arguments, or nothing. */
function verdict({ name, node, isType }: Free): string | undefined {
  if (isType) return law.pure.types.includes(name) ? `the type ${name} belongs to Node` : undefined;
  const user = node.parent;
  if (user?.type === 'TSTypeQuery') return law.pure.globals.includes(name) ? undefined : `typeof ${name}`;
  if (!law.pure.globals.includes(name)) return name;
  if (name !== 'Math' && name !== 'Date' && name !== 'Intl') return undefined;

  const member =
    user?.type === 'MemberExpression' && user.object === node && !user.computed ? user.property : undefined;
  const called = member?.type === 'Identifier' || member?.type === 'PrivateIdentifier' ? member.name : undefined;
  if (name === 'Math')
    return called === undefined ? 'an alias of Math' : called === 'random' ? 'Math.random' : undefined;
  if (name === 'Intl') return called === undefined ? 'an alias of Intl' : undefined;
  if (called !== undefined) return called === 'UTC' || called === 'parse' ? undefined : `Date.${called}`;
  if (user?.type === 'BinaryExpression' && user.operator === 'instanceof') return undefined;
  if (user?.type === 'NewExpression' && user.callee === node) {
    if (user.arguments.length === 0) return 'new Date()';
    if (user.arguments.length > 1) return 'new Date(year, month, …), which is in the time zone of the machine,';
    return user.arguments[0]?.type === 'SpreadElement' ? 'new Date(...spread)' : undefined;
  }
  return user?.type === 'CallExpression' && user.callee === node ? 'Date()' : 'an alias of Date';
}

/**
 * Pure rooms get time, ids, chance and I/O as arguments. Only the platform names listed in `boundaries.json` may be
 * used there, and Math, Date and Intl only in forms that give the same answer on every machine and at every time.
 */
export const purity: Rule = {
  meta: { type: 'problem' },
  create(context) {
    const path = pathOf(context.filename);
    const project = projectOf(path);
    if (!project || !law.pure.tags.includes(project.tag) || isTest(path) || isConfig(path)) return {};
    type Node = Extract<Parameters<typeof context.report>[0], { node: unknown }>['node'];
    const report = (node: Node, what: string): void =>
      context.report({
        node,
        message: `${what} may not stand in ${project.tag}: time, ids, chance and I/O are arguments`,
      });
    return {
      Program() {
        for (const free of freeNames(context)) {
          const what = verdict(free);
          if (what !== undefined) report(free.node, what);
        }
      },
      MetaProperty(node) {
        if (node.meta.name === 'import') report(node, 'import.meta');
      },
      CallExpression(node) {
        const { callee } = node;
        if (callee.type !== 'MemberExpression' || callee.property.type !== 'Identifier' || callee.computed) return;
        const { name } = callee.property;
        if (LOCAL.test(name)) report(node, `${name}(), which asks for the time zone or language of the machine,`);
        else if (READS_CLOCK_WITHOUT_ARGUMENT.has(name) && node.arguments.length === 0) report(node, `${name}()`);
      },
      NewExpression(node) {
        const { callee } = node;
        if (callee.type !== 'MemberExpression' || callee.object.type !== 'Identifier') return;
        if (callee.object.name === 'Intl' && node.arguments.length === 0) report(node, 'Intl without a language');
      },
    };
  },
};
