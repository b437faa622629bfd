import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { projects } from '../../tools/lint/workspace.ts';
import { type Case, describeCases, makeSandbox, type Sandbox } from './lint-sandbox.ts';

/** Who may import whom: written again by hand, so that a slip in the configuration of the linter shows. */
const ROOMS: Readonly<Record<string, readonly string[]>> = {
  kernel: [],
  shapes: ['kernel'],
  domain: ['kernel'],
  configuration: ['shapes', 'domain', 'kernel'],
  contracts: ['domain', 'kernel'],
  ports: ['domain', 'kernel'],
  stages: ['domain', 'ports', 'kernel'],
  stores: ['ports', 'contracts', 'domain', 'kernel'],
  'one-request': ['ports', 'domain', 'kernel'],
  insight: ['stages', 'domain', 'ports', 'kernel'],
  adapter: ['ports', 'contracts', 'domain', 'kernel'],
  runtime: ['ports', 'contracts', 'kernel'],
  testing: [
    'kernel',
    'domain',
    'configuration',
    'contracts',
    'ports',
    'stages',
    'stores',
    'insight',
    'adapter',
    'runtime',
  ],
  portal: ['kernel'],
  example: [],
  app: ['kernel', 'domain', 'configuration', 'contracts', 'ports', 'stages', 'insight', 'runtime'],
};
const ROOMS_BY_PROJECT: Readonly<Record<string, readonly string[]>> = {
  'apps/cli': ['adapter', 'app', 'portal', 'stores'],
  'libs/adapters/providers': ['one-request'],
};

const TEST_TOOLS = [
  'vitest',
  'fast-check',
  'mailauth',
  'postal-mime',
  'protobufjs',
  'temporal-polyfill',
  'smtp-server',
  'testcontainers',
  'sms-segments-calculator',
  'twilio',
  'kafkajs',
  'pg',
  'pg-boss',
  'bullmq',
  'nodemailer',
  'fastify',
  'undici',
  'mongodb',
  'jose',
  'oidc-provider',
  '@bufbuild/cel',
  'playwright-core',
  'axe-core',
  'yaml',
  'dclint',
  'dockerfile-ast',
  'dockerfile-utils',
  '@prometheus-io/lezer-promql',
];
const SERVER = ['fastify', '@fastify/cors', '@fastify/swagger'];
const BY_TAG: Readonly<Record<string, readonly string[]>> = {
  client: ['openapi-fetch'],
  shapes: ['zod'],
  configuration: ['zod', 'yaml'],
  contracts: ['zod', 'avsc'],
  domain: ['libphonenumber-js'],
  example: ['fastify', 'zod'],
  runtime: [...SERVER, 'pino', 'prom-client', '@opentelemetry/api', 'zod'],
  testing: TEST_TOOLS,
};
const BY_PROJECT: Readonly<Record<string, readonly string[]>> = {
  'apps/cli': ['commander', 'yaml'],
  'apps/control': [...SERVER, 'fastify-type-provider-zod', 'yaml', 'zod'],
  'apps/gateway': SERVER,
  'apps/portal': ['openapi-fetch'],
  'libs/adapters/bounces': ['postal-mime', 'smtp-server'],
  'libs/adapters/cel': ['@marcbachmann/cel-js', 're2js'],
  'libs/adapters/cohorts': ['zod'],
  'libs/adapters/guarded-http': ['undici', 'ipaddr.js'],
  'libs/adapters/handlebars': ['handlebars'],
  'libs/adapters/jwks': ['jose'],
  'libs/adapters/openid': ['openid-client'],
  'libs/adapters/mjml': ['mjml'],
  'libs/adapters/mongodb': ['mongodb'],
  'libs/adapters/kafka': ['kafkajs'],
  'libs/adapters/postgres': ['pg', 'pg-logical-replication'],
  'libs/adapters/providers': ['google-auth-library', 'nodemailer', 'twilio'],
  'libs/adapters/schema-registry': ['@kafkajs/confluent-schema-registry'],
};
const NPM = [...new Set([...Object.values(BY_TAG), ...Object.values(BY_PROJECT), ['nx']].flat())];
/** What every package of the sandbox declares; pino stands for what is allowed and not declared. */
const DECLARED = NPM.filter((name) => name !== 'pino');
const NODE_FREE = [
  'kernel',
  'shapes',
  'domain',
  'configuration',
  'ports',
  'stages',
  'stores',
  'insight',
  'portal',
  'client',
];

let sandbox: Sandbox;
beforeAll(() => {
  sandbox = makeSandbox(DECLARED);
});
afterAll(() => sandbox.remove());

/** One file per package, one line per specifier. The refused lines must be exactly those that `isAllowed` refuses. */
function expectRefusals(
  specifiers: readonly string[],
  isAllowed: (from: (typeof projects)[number], specifier: string) => boolean,
  folder = 'src',
): void {
  const fileOf = (directory: string): string => `${directory}/${folder}/imports.ts`;
  const text = specifiers.map((specifier) => `export * from '${specifier}';\n`).join('');
  const result = sandbox.lint(Object.fromEntries(projects.map(({ directory }) => [fileOf(directory), text])));
  const wrong = projects.flatMap((from) => {
    const refused = new Set(
      result
        .of(fileOf(from.directory))
        .filter((finding) => finding.rule === 'carillon(boundaries)' && finding.severity === 'error')
        .map(({ line }) => line),
    );
    return specifiers.flatMap((specifier, index) => {
      const allowed = isAllowed(from, specifier);
      if (refused.has(index + 1) !== allowed) return [];
      return [`${from.directory} -> ${specifier}: ${allowed ? 'refused' : 'let through'}`];
    });
  });
  expect(wrong).toEqual([]);
  expect(result.exitCode).toBe(1);
}

describe('the imports allowed between packages', () => {
  const named = (name: string) => projects.find((project) => project.name === name);

  test('rooms', () => {
    expectRefusals(
      projects.map((project) => project.name),
      (from, specifier) => {
        const to = named(specifier);
        const rooms = [...(ROOMS[from.tag] ?? []), ...(ROOMS_BY_PROJECT[from.directory] ?? [])];
        if (to === from) return from.tag === 'testing';
        return to !== undefined && rooms.includes(to.tag);
      },
    );
  });

  test('npm packages', () => {
    expectRefusals(
      NPM.filter((name) => name !== 'pino'),
      (from, specifier) => [...(BY_TAG[from.tag] ?? []), ...(BY_PROJECT[from.directory] ?? [])].includes(specifier),
    );
  });

  test('modules of Node', () => {
    expectRefusals(['node:fs', 'fs', 'node:sqlite'], (from, specifier) => {
      if (NODE_FREE.includes(from.tag)) return false;
      return specifier !== 'node:sqlite' || from.tag === 'testing' || from.directory === 'libs/adapters/embedded';
    });
  });

  test('what tests may use on top', () => {
    expectRefusals(
      [...TEST_TOOLS, '@carillon/testing', 'node:fs', 'nx'],
      (_from, specifier) => specifier !== 'nx',
      'test',
    );
  });
});

const rule = 'carillon(boundaries)';
const CASES: Readonly<Record<string, Case>> = {
  'an import of types': {
    bad: {
      'libs/kernel/src/a.ts': "import type { name } from '@carillon/domain/rules';\nexport type Name = typeof name;\n",
    },
    good: {
      'libs/domain/src/a.ts': "import type { name } from '@carillon/kernel';\nexport type Name = typeof name;\n",
    },
    rule,
    says: 'kernel may not import domain',
  },
  'an import of values of a room that gives types only': {
    bad: {
      'libs/domain/src/shape.ts': "export { name } from '@carillon/shapes';\n",
      'libs/domain/src/shape2.ts': "import { type name } from '@carillon/shapes';\nexport type Name = typeof name;\n",
      'libs/domain/src/shape3.ts': "export * from '@carillon/shapes';\n",
    },
    good: {
      'libs/domain/src/shape4.ts': "import type { name } from '@carillon/shapes';\nexport type Name = typeof name;\n",
      'libs/domain/src/shape5.ts': "export type { name } from '@carillon/shapes';\n",
      'libs/domain/src/shape6.ts': "export { name } from '@carillon/shapes/values';\n",
    },
    rule,
    says: 'as types only',
  },
  'a named re-export': {
    bad: { 'libs/ports/src/c.ts': "export { name } from '@carillon/stages';\n" },
    good: { 'libs/stages/src/c.ts': "export { name } from '@carillon/ports';\n" },
    rule,
    says: 'ports may not import stages',
  },
  'an import at run time': {
    bad: { 'libs/runtime/src/d.ts': "export const load = () => import('@carillon/domain/rules');\n" },
    good: { 'libs/runtime/src/d2.ts': "export const load = () => import('@carillon/kernel');\n" },
    rule,
    says: 'runtime may not import domain',
  },
  'an import at run time of a name that cannot be checked': {
    bad: { 'apps/engine/src/e.ts': 'export const load = (name: string): Promise<unknown> => import(name);\n' },
    good: { 'test/e.ts': 'export const load = (name: string): Promise<unknown> => import(name);\n' },
    rule,
    says: 'take a literal',
  },
  'require()': {
    bad: {
      'apps/engine/src/f.ts':
        "import { createRequire } from 'node:module';\nconst require = createRequire(import.meta.url);\nexport const load = (): unknown => require('nodemailer');\n",
    },
    good: {
      'libs/adapters/providers/smtp/src/f.ts':
        "import { createRequire } from 'node:module';\nconst require = createRequire(import.meta.url);\nexport const load = (): unknown => require('nodemailer');\n",
    },
    rule,
    says: 'apps/engine (app) may not import the npm package nodemailer',
  },
  'a relative path out of the package': {
    bad: { 'libs/domain/src/g.ts': "export * from '../../kernel/src/index.ts';\n" },
    good: { 'libs/domain/src/rules/g.ts': "export * from '../index.ts';\n" },
    rule,
    says: 'leaves @carillon/domain',
  },
  'a relative path out of the package, in a test': {
    bad: { 'libs/domain/test/h.ts': "export * from '../../kernel/src/index.ts';\n" },
    good: {
      'libs/domain/test/h2.ts': "export * from '../../../test/support/h.ts';\n",
      'test/support/h.ts': "export * from '../../libs/kernel/src/index.ts';\n",
    },
    rule,
    says: 'leaves @carillon/domain',
  },
  'a way into another package past its exports': {
    bad: { 'libs/domain/src/i.ts': "export * from '@carillon/kernel/src/index.ts';\n" },
    good: { 'libs/domain/src/i2.ts': "export * from '@carillon/kernel';\n" },
    rule,
    says: 'deep import',
  },
  'a path that is neither relative nor a package': {
    bad: { 'libs/domain/src/j.ts': "export * from '#inside';\n" },
    good: { 'libs/domain/src/j2.ts': "export * from './index.ts';\n" },
    rule,
    says: 'import relative paths and packages only',
  },
  'a package that is not there': {
    bad: { 'libs/domain/src/k.ts': "export * from '@carillon/nowhere';\n" },
    good: { 'libs/domain/src/k2.ts': "export * from '@carillon/kernel';\n" },
    rule,
    says: 'not a package of this workspace',
  },
  'its own name': {
    bad: { 'libs/domain/src/l.ts': "export * from '@carillon/domain/rules';\n" },
    good: { 'libs/domain/test/l.ts': "export * from '@carillon/domain/rules';\n" },
    rule,
    says: 'imports itself by name',
  },
  'a dependency that its package.json does not name': {
    bad: { 'libs/runtime/src/m.ts': "export * from 'pino';\n" },
    good: { 'libs/runtime/src/m2.ts': "export * from 'prom-client';\n" },
    rule,
    says: 'pino is not in libs/runtime/package.json',
  },
  'a folder that is no package': {
    bad: { 'libs/stray/src/n.ts': 'export const here = 1;\n' },
    good: { 'libs/kernel/src/n.ts': 'export const here = 1;\n' },
    rule,
    says: 'belongs to no package',
  },
  'a package with an unknown tag': {
    beside: { 'libs/odd/package.json': '{ "name": "@carillon/odd", "nx": { "tags": ["tag:odd"] } }' },
    bad: { 'libs/odd/src/o.ts': "export * from '@carillon/kernel';\n" },
    good: { 'libs/ports/src/o.ts': "export * from '@carillon/kernel';\n" },
    rule,
    says: 'needs exactly one known tag',
  },
};

describeCases('every form of import', CASES, () => sandbox);
