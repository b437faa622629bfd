/**
 * `npm run bundle [-- FOLDER]` writes what a release carries to `dist/`: the program as plain JavaScript with what it needs
 * beside it. The folder runs wherever it is copied to, on the Node of package.json, without npm: `node dist/carillon.js`.
 */
import { chmod, cp, mkdir, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { existsSync, readdirSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join, relative, resolve } from 'node:path';
import { build } from 'esbuild';
import { PACKAGES_OF_DOCS } from './docs/site.ts';
import { buildPortal, packagesOfPortal } from './portal.ts';

const root = resolve(import.meta.dirname, '..');

/** What is started by name. Threads stand beside the program, under the names that `new Worker` looks for. */
export const ENTRIES = {
  carillon: 'apps/cli/bin/carillon.js',
  'health-check': 'apps/cli/src/health-check.ts',
  'embedded-page-check': 'libs/adapters/embedded/src/damage/check-thread.ts',
  'embedded-wal-copier': 'libs/adapters/embedded/src/wal/copy-thread.ts',
  'embedded-writer': 'libs/adapters/embedded/src/writing/thread.ts',
  'mjml-worker': 'libs/adapters/mjml/src/worker.ts',
  'replay-child': 'apps/cli/src/replay/child.ts',
  'template-worker': 'libs/adapters/handlebars/src/worker.ts',
};

/** Folders that are read at run time (apps/cli/src/shipped-files.ts). */
const FOLDERS = { portal: 'apps/portal/dist', docs: 'apps/portal/docs-dist', demo: 'docs/examples/demo' };

/** Packages that cannot be part of one file: they read files beside themselves, or are loaded by name when needed. */
const WHOLE = [
  '@fastify/swagger',
  '@opentelemetry/api',
  '@opentelemetry/exporter-trace-otlp-proto',
  '@opentelemetry/resources',
  '@opentelemetry/sdk-trace',
];

/**
 * They name their own file and never look beside it: the logger only to write from a thread, which we do not ask for, the
 * HTTP client only in the stack of an error, `import-fresh` only for the settings of a minifier that MJML does not use here.
 */
const NEVER_LOOKS = new Set(['pino', 'thread-stream', 'undici', 'import-fresh']);

/** Files of a copied package that stay behind: what only developers read, and packages inside it, which are copied by themselves. */
const LEFT_OUT = /\.(?:map|d\.[cm]?ts)$|\/node_modules\b/;

/**
 * Modules of CommonJS expect a `require`; a module of ECMAScript has none. And what others deprecated is not for those who
 * run a release: Node keeps quiet about code in node_modules, which this no longer is.
 */
const BANNER = `import { createRequire as __createRequire } from 'node:module';
const require = __createRequire(import.meta.url);
process.noDeprecation ??= true;`;

type Manifest = {
  readonly version: string;
  readonly license: string;
  readonly engines: { readonly node: string };
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
};
const manifestOf = async (folder: string): Promise<Manifest> =>
  JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')) as Manifest;

/** Where a package is installed for one that stands in `from`. */
function findPackage(name: string, from: string): string {
  const places = createRequire(join(from, 'package.json')).resolve.paths(name) ?? [];
  const folder = places.map((place) => join(place, name)).find((one) => existsSync(join(one, 'package.json')));
  if (folder === undefined) throw new Error(`${name}, which ${relative(root, from)} needs, is not installed: npm ci`);
  return folder;
}

/** The folders of packages and of all that they need, as npm placed them. */
async function withNeeds(names: readonly string[], from: string, found = new Set<string>()): Promise<Set<string>> {
  for (const name of names) {
    const folder = findPackage(name, from);
    if (found.has(folder)) continue;
    found.add(folder);
    const { dependencies, peerDependencies } = await manifestOf(folder);
    await withNeeds(Object.keys({ ...dependencies, ...peerDependencies }), folder, found);
  }
  return found;
}

/** Folder of the package that a bundled file came from; null for our own. */
function packageOf(file: string): string | null {
  const [, folder] = /^(.*node_modules\/(?:@[^/]+\/)?[^/]+)\//.exec(file) ?? [];
  return folder ?? null;
}

async function bundleProgram(out: string): Promise<readonly string[]> {
  const { metafile } = await build({
    absWorkingDir: root,
    entryPoints: ENTRIES,
    outdir: out,
    bundle: true,
    splitting: true,
    chunkNames: '[name]-[hash]',
    platform: 'node',
    format: 'esm',
    target: 'node24',
    external: WHOLE,
    banner: { js: BANNER },
    legalComments: 'none',
    logLevel: 'warning',
    metafile: true,
  });
  const files = Object.keys(metafile.inputs).filter((file) => packageOf(file) !== null);
  for (const file of files) {
    const [, name = ''] = /([^/]+)$/.exec(packageOf(file) ?? '') ?? [];
    if (NEVER_LOOKS.has(name) || !/\b__(?:dir|file)name\b/.test(await readFile(join(root, file), 'utf8'))) continue;
    throw new Error(`${file} looks for files beside itself: name its package in WHOLE (tools/bundle.ts)`);
  }
  return [...new Set(files.map((file) => packageOf(file) ?? ''))].toSorted();
}

/** The licenses of what became part of our files; packages that are copied whole bring theirs. */
export async function licensesOf(folders: readonly string[]): Promise<string> {
  const parts: string[] = [];
  for (const folder of folders) {
    const { version, license } = await manifestOf(join(root, folder));
    const name = folder.slice(folder.lastIndexOf('node_modules/') + 'node_modules/'.length);
    const file = readdirSync(join(root, folder)).find((one) => /^licen[cs]e/i.test(one));
    const text = file === undefined ? '' : await readFile(join(root, folder, file), 'utf8');
    parts.push(`${name} ${version} (${license})\n\n${text.trim()}\n`);
  }
  return parts.join(`\n${'-'.repeat(80)}\n\n`);
}

/** Writes the bundle into `out`, in place of what was there. */
export async function writeBundle(out: string): Promise<void> {
  await rm(out, { recursive: true, force: true });
  await buildPortal();
  const bundled = await bundleProgram(out);
  await chmod(join(out, 'carillon.js'), 0o755);
  for (const [name, folder] of Object.entries(FOLDERS)) {
    await cp(await realpath(join(root, folder)), join(out, name), { recursive: true });
  }
  for (const folder of await withNeeds(WHOLE, join(root, 'libs/runtime'))) {
    const target = join(out, relative(root, folder));
    await mkdir(target, { recursive: true });
    await cp(folder, target, { recursive: true, filter: (file) => !LEFT_OUT.test(file.slice(folder.length)) });
  }
  const { version, license, engines } = await manifestOf(root);
  const manifest = { name: 'carillon', version, license, type: 'module', engines, bin: { carillon: 'carillon.js' } };
  await writeFile(join(out, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
  await cp(join(root, 'LICENSE'), join(out, 'LICENSE'));
  await cp(join(root, 'NOTICE'), join(out, 'NOTICE'));
  await writeFile(
    join(out, 'LICENSES-OF-OTHERS.txt'),
    await licensesOf([...new Set([...bundled, ...(await packagesOfPortal()), ...PACKAGES_OF_DOCS])].toSorted()),
  );
}

if (import.meta.main) {
  const out = resolve(process.argv[2] ?? join(root, 'dist'));
  await writeBundle(out);
  console.log(`${out} runs with: node ${join(relative(process.cwd(), out), 'carillon.js')} --help`);
}
