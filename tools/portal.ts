/**
 * `node tools/portal.ts` builds the portal into `apps/portal/dist`, where its sources have changed since the last build. With
 * `--force` it builds in any case; with `--types` it only writes the types of the management API, which the checks of types and
 * of style need.
 */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readFileSync, readdirSync } from 'node:fs';
import { readFile, readlink, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { basename, join, relative, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { aboveBudget, measureBuild } from './portal-budgets.ts';

const run = promisify(execFile);
const root = resolve(import.meta.dirname, '..');
const portal = join(root, 'apps/portal');
/** Where the control role reads the pages in a checkout: a link to the last build. */
export const PORTAL_BUILT = join(portal, 'dist');

/** In a build: what it was made from. */
const MADE_FROM = '.made-from';
/** In a build: whose code and fonts are in it (apps/portal/vite.config.ts). */
const PACKAGES = 'packages.json';
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
        (entry) => entry.isFile() && entry.name !== basename(TYPES),
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

/** What a rename says where a folder stands, not a link or a file; Windows says it of a link too. */
const IN_THE_WAY = new Set(['EISDIR', 'ENOTEMPTY', 'EEXIST', ...(process.platform === 'win32' ? ['EPERM'] : [])]);
/** How often two that move a folder away at once may get in each other's way before one of them says so. */
const TRIES = 20;

/**
 * Makes `place` a link to a build, which stays where it is: whoever reads it meets the one before or this one, and never none, however
 * many do so at once. Only a folder that stands there from before there were links is missing for a moment, and so is a link on Windows.
 */
export async function putInPlace(fresh: string, place: string): Promise<void> {
  const link = `${fresh}.link`;
  // Windows lets everybody make a junction, whose target has to be absolute.
  await symlink(process.platform === 'win32' ? fresh : basename(fresh), link, 'junction');
  for (let attempt = 1; ; attempt += 1) {
    const refused = await rename(link, place).then(
      () => null,
      (error: NodeJS.ErrnoException) => error,
    );
    if (refused === null) return;
    if (attempt === TRIES || !IN_THE_WAY.has(refused.code ?? '')) throw refused;
    const old = `${fresh}.before-${attempt}`;
    await rename(place, old).catch(() => undefined);
    await rm(old, { recursive: true, force: true });
  }
}

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
};

/**
 * Removes builds that were replaced, and what those left behind that were killed. One that has just been replaced stays until the next is
 * made: somebody may be reading it.
 */
async function removeLeftovers(): Promise<void> {
  for (const name of readdirSync(portal)) {
    const [, pid] = /^\.dist-(?:old-)?(\d+)/.exec(name) ?? [];
    if (pid === undefined || isAlive(Number(pid))) continue;
    // Whoever built it has ended, so that it is in place by now or never will be.
    const isInPlace = basename(await readlink(PORTAL_BUILT).catch(() => '')) === name;
    if (!isInPlace) await rm(join(portal, name), { recursive: true, force: true });
  }
}

async function buildHere(): Promise<void> {
  const wanted = fingerprint();
  await removeLeftovers();
  const { build } = await import('vite');
  const fresh = join(portal, `.dist-${process.pid}-${Date.now().toString(36)}`);
  await build({
    configFile: join(portal, 'vite.config.ts'),
    root: portal,
    logLevel: 'warn',
    build: { outDir: fresh, emptyOutDir: true },
  });
  const { measured, fonts } = measureBuild(fresh);
  const above = aboveBudget(measured, fonts);
  if (above.length > 0) {
    await rm(fresh, { recursive: true, force: true });
    throw new Error(`the pages of the portal cost too much:\n${above.join('\n')}`);
  }
  await writeFile(join(fresh, MADE_FROM), wanted);
  await putInPlace(fresh, PORTAL_BUILT);
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
