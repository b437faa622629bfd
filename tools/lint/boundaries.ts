import { isBuiltin } from 'node:module';
import { dirname, resolve, sep } from 'node:path';
import law from './boundaries.json' with { type: 'json' };
import type { Rule } from './rule.ts';
import {
  allowanceOf,
  extraOf,
  isConfig,
  isTest,
  pathOf,
  type Project,
  projectNamed,
  projectOf,
  root,
} from './workspace.ts';

const packageOf = (specifier: string): string =>
  specifier
    .split('/')
    .slice(0, specifier.startsWith('@') ? 2 : 1)
    .join('/');

const matches = (list: readonly string[], name: string): boolean =>
  list.some((item) => item === name || (item.endsWith('/*') && name.startsWith(item.slice(0, -1))));

/** Why this import may not stand in this file, or nothing. */
function verdict(file: string, from: Project, specifier: string, typesOnly: boolean): string | undefined {
  const path = pathOf(file);
  const allowance = allowanceOf(from);
  if (!allowance) return `${from.directory}/package.json needs exactly one known tag, not: ${from.tag}`;
  const own = extraOf(from);
  const inTest = isTest(path) || allowance.test === true;
  const free = inTest || isConfig(path);

  if (specifier.startsWith('.')) {
    const target = resolve(dirname(file), specifier);
    if (target.startsWith(resolve(root, from.directory) + sep)) return undefined;
    if (inTest && law.tests.paths.some((allowed) => pathOf(target).startsWith(allowed))) return undefined;
    return `this relative import leaves ${from.name}: import the other package by its name`;
  }
  if (/^([#/]|[a-z]+:)/i.test(specifier) && !isBuiltin(specifier)) {
    return `${specifier}: import relative paths and packages only, so that borders can be checked`;
  }
  if (isBuiltin(specifier)) {
    if (law.reserved.includes(specifier) && !free && !own.builtins?.includes(specifier)) {
      return `${from.directory} may not import ${specifier}: it belongs to one adapter`;
    }
    return allowance.node || free ? undefined : `${from.tag} may not import ${specifier}: it stays pure`;
  }

  const name = packageOf(specifier);
  const declared = (): string | undefined =>
    free || from.dependencies.has(name) ? undefined : `${name} is not in ${from.directory}/package.json`;
  if (name.startsWith(law.scope)) {
    const to = projectNamed(name);
    if (!to) return `${name} is not a package of this workspace`;
    const entry = specifier === name ? '.' : `.${specifier.slice(name.length)}`;
    if (!to.entries.has(entry)) return `deep import ${specifier}: use what ${name} exports`;
    if (to === from) return inTest ? undefined : `${name} imports itself by name: use a relative path`;
    const rooms = [...(allowance.rooms ?? []), ...(own.rooms ?? []), ...(inTest ? law.tests.rooms : [])];
    if (rooms.includes(to.tag) || rooms.includes(`${to.tag}${entry.slice(1)}`)) return declared();
    if (!allowance.types?.includes(to.tag)) return `${from.tag} may not import ${to.tag} (${name})`;
    if (!typesOnly) return `${from.tag} may import ${to.tag} (${name}) as types only: import type { … }`;
  } else {
    const npm = [...(allowance.npm ?? []), ...(own.npm ?? []), ...(free ? law.tests.npm : [])];
    if (!matches(npm, name)) return `${from.directory} (${from.tag}) may not import the npm package ${name}`;
  }
  return declared();
}

/** Who may import whom: `boundaries.json` is the law, the tags stand in each `package.json`. */
export const boundaries: Rule = {
  meta: { type: 'problem' },
  create(context) {
    const path = pathOf(context.filename);
    const from = projectOf(path);
    if (!from) {
      if (!/^(apps|libs)\//.test(path)) return {};
      return { Program: (node) => context.report({ node, message: `${path} belongs to no package` }) };
    }
    type Node = Extract<Parameters<typeof context.report>[0], { node: unknown }>['node'];
    const check = (node: Node, specifier: string, kind: 'type' | 'value' = 'value'): void => {
      const message = verdict(context.filename, from, specifier, kind === 'type');
      if (message !== undefined) context.report({ node, message });
    };
    const unreadable = 'import() and require() take a literal, so that borders can be checked';
    return {
      ImportDeclaration: (node) => check(node.source, node.source.value, node.importKind ?? 'value'),
      ExportAllDeclaration: (node) => check(node.source, node.source.value, node.exportKind ?? 'value'),
      ExportNamedDeclaration: (node) => {
        if (node.source) check(node.source, node.source.value, node.exportKind ?? 'value');
      },
      ImportExpression: ({ source }) => {
        if (source.type === 'Literal' && typeof source.value === 'string') check(source, source.value);
        else context.report({ node: source, message: unreadable });
      },
      CallExpression: (node) => {
        const [first] = node.arguments;
        if (node.callee.type !== 'Identifier' || node.callee.name !== 'require') return;
        if (first?.type === 'Literal' && typeof first.value === 'string') check(first, first.value);
        else context.report({ node, message: unreadable });
      },
    };
  },
};
