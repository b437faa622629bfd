/**
 * `node tools/portal.ts` builds the portal into `apps/portal/dist` and the documentation into `apps/portal/docs-dist`, if their
 * sources have changed since the last build. With `--force` it builds in any case; with `--types` it only writes the types of the management API, which the checks of types and
 * of style need.
 */
import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { buildInto, fingerprintOf, madeFrom } from './built-folder.ts';
import { DOCS_BUILT, DOCS_PROGRAM, docsFingerprint } from './docs/site.ts';
import { aboveBudget, measureBuild } from './portal-budgets.ts';

const run = promisify(execFile);
const root = resolve(import.meta.dirname, '..');
const portal = join(root, 'apps/portal');
/** Where the control role reads the pages in a checkout: a link to the last build. */
export const PORTAL_BUILT = join(portal, 'dist');

/** In a build: whose code and fonts are in it (apps/portal/vite.config.ts). */
const PACKAGES = 'packages.json';
/** The files that a build is made from. The versions of packages are in package.json. */
const SOURCES = ['src', 'public', 'index.html', 'package.json', 'vite.config.ts', 'tsconfig.json'];

/** Types are written from the API description and do not change the build. */
const fingerprint = (): string =>
  fingerprintOf(portal, SOURCES, 'production', (path) => basename(path) !== basename(TYPES));

/** Runs a build as a process of its own, with `NODE_ENV=production`: vitest sets `test`, and React would then carry its warnings for developers. */
const buildApart = async (program: string): Promise<void> => {
  const env = { ...process.env, NODE_ENV: 'production' };
  await run(process.execPath, [program, '--build-here'], { cwd: root, env });
};

/** Builds the portal, and the documentation that it serves, if their sources changed since the last build. */
export async function buildPortal({ force = false, say = (_text: string): void => undefined } = {}): Promise<void> {
  if (force || (await madeFrom(PORTAL_BUILT)) !== fingerprint()) {
    say('Building the pages of the portal, once …');
    await buildApart(import.meta.filename);
  }
  if (force || (await madeFrom(DOCS_BUILT)) !== docsFingerprint()) {
    say('Building the documentation, once …');
    await buildApart(DOCS_PROGRAM);
  }
}

async function buildHere(): Promise<void> {
  await buildInto(PORTAL_BUILT, fingerprint(), async (fresh) => {
    const { build } = await import('vite');
    await build({
      configFile: join(portal, 'vite.config.ts'),
      root: portal,
      logLevel: 'warn',
      build: { outDir: fresh, emptyOutDir: true },
    });
    const { measured, fonts } = measureBuild(fresh);
    const above = aboveBudget(measured, fonts);
    if (above.length > 0) throw new Error(`the pages of the portal cost too much:\n${above.join('\n')}`);
  });
}

/** Folders of the packages that became part of the build that is in place, fonts among them. */
export async function packagesOfPortal(): Promise<readonly string[]> {
  return JSON.parse(await readFile(join(PORTAL_BUILT, PACKAGES), 'utf8')) as readonly string[];
}

const DESCRIPTION = join(root, 'schemas/openapi/management-api.json');
const TYPES = join(portal, 'src/api/management-api.generated.ts');
const BANNER = '// Written from schemas/openapi by tools/portal.ts; do not edit.\n';

/**
 * The types of the management API, from its description. The package that makes them takes the compiler of TypeScript as a
 * library, of a version that has one: both stand with the portal alone.
 */
export async function managementApiTypes(): Promise<string> {
  const place = createRequire(join(portal, 'package.json'))
    .resolve('openapi-typescript')
    .replace(/\.cjs$/, '.mjs');
  const generator = (await import(pathToFileURL(place).href)) as {
    readonly default: (document: object, options: { readonly exportType: boolean }) => Promise<never>;
    readonly astToString: (nodes: never) => string;
  };
  const document = JSON.parse(await readFile(DESCRIPTION, 'utf8')) as object;
  const types = generator.astToString(await generator.default(document, { exportType: true }));
  // One kind is left that it always writes as an interface.
  return BANNER + types.replaceAll(/^export interface (\w+) \{([^]*?)^\}/gm, 'export type $1 = {$2};');
}

/** Writes them where they are others than those that stand there. */
export async function writePortalTypes(): Promise<void> {
  const text = await managementApiTypes();
  if ((await readFile(TYPES, 'utf8').catch(() => null)) !== text) await writeFile(TYPES, text);
}

if (import.meta.main) {
  if (process.argv.includes('--types')) await writePortalTypes();
  else if (process.argv.includes('--build-here')) await buildHere();
  else {
    await buildPortal({
      force: process.argv.includes('--force'),
      say: (words) => void process.stderr.write(`${words}\n`),
    });
  }
}
