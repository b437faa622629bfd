/**
 * `node tools/portal.ts` builds the portal into `apps/portal/dist`, where its sources have changed since the last build. With
 * `--force` it builds in any case; with `--types` it only writes the types of the management API, which the checks of types and
 * of style need.
 */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync, readdirSync } from 'node:fs';
import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { join, relative, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);
const root = resolve(import.meta.dirname, '..');
const portal = join(root, 'apps/portal');
/** Where the control role reads the pages in a checkout. */
export const PORTAL_BUILT = join(portal, 'dist');

/** In a build: what it was made from. */
const MADE_FROM = '.made-from';
/** Whatever decides what a build holds; types do not, and the versions of packages stand in package.json. */
const SOURCES = ['src', 'public', 'index.html', 'package.json', 'vite.config.ts', 'tsconfig.json'];

/** One word for all that a build is made from. */
function fingerprint(): string {
  const hash = createHash('sha256').update(`production ${process.version}`);
  const add = (path: string): void => {
    hash.update(`\0${relative(portal, path)}\0`).update(readFileSync(path));
  };
  for (const name of SOURCES) {
    const path = join(portal, name);
    if (name.includes('.')) add(path);
    else {
      const files = readdirSync(path, { recursive: true, withFileTypes: true }).filter(
        (entry) => entry.isFile() && !entry.name.endsWith('.generated.ts'),
      );
      for (const file of files.map((entry) => join(entry.parentPath, entry.name)).toSorted()) add(file);
    }
  }
  return hash.digest('hex');
}

const madeFrom = (folder: string): Promise<string | null> =>
  readFile(join(folder, MADE_FROM), 'utf8').catch(() => null);

/**
 * Builds the portal unless what is built was made from the sources as they are. Answers whether it built.
 *
 * A process of its own builds, with `NODE_ENV=production` whatever the environment says: with `test`, which vitest sets, React
 * would come with all that it tells developers, and that build would pass for the right one ever after.
 */
export async function buildPortal({ force = false, say = (_words: string): void => undefined } = {}): Promise<boolean> {
  if (!force && (await madeFrom(PORTAL_BUILT)) === fingerprint()) return false;
  say('Building the pages of the portal, once …');
  const env = { ...process.env, NODE_ENV: 'production' };
  await run(process.execPath, [import.meta.filename, '--build-here'], { cwd: root, env });
  return true;
}

/** A build takes the place of the one before in one step, so that two at once do no harm. */
async function buildHere(): Promise<void> {
  const wanted = fingerprint();
  const { build } = await import('vite');
  const fresh = join(portal, `.dist-${process.pid}`);
  await build({
    configFile: join(portal, 'vite.config.ts'),
    root: portal,
    logLevel: 'warn',
    build: { outDir: fresh, emptyOutDir: true },
  });
  await writeFile(join(fresh, MADE_FROM), wanted);
  const old = join(portal, `.dist-old-${process.pid}`);
  await rename(PORTAL_BUILT, old).catch(() => undefined);
  await rename(fresh, PORTAL_BUILT);
  await rm(old, { recursive: true, force: true });
}

const DESCRIPTION = join(root, 'schemas/openapi/management-api.json');
const TYPES = join(portal, 'src/api/management-api.generated.ts');
const BANNER = '// Written by `node tools/portal.ts --types` from schemas/openapi; do not edit.\n';

/**
 * Writes the types of the management API from its description, where they are others than those that stand there. The package
 * that makes them takes the compiler of TypeScript as a library, of a version that has one: both stand with the portal alone.
 */
export async function writePortalTypes(): Promise<void> {
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
  const text = BANNER + types.replaceAll(/^export interface (\w+) \{([^]*?)^\}/gm, 'export type $1 = {$2};');
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
