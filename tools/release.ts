/**
 * `npm run release -- --dry-run [--out FOLDER]` makes what a release would publish: the program and the client as packages of npm, the
 * bundle's bill of materials, what has changed, the images where an engine answers, and the sums of all of them. It publishes nothing, and has no way to.
 */
import { execFile } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join, relative, resolve } from 'node:path';
import { parseArgs, promisify } from 'node:util';
import { billOfMaterials } from './bill-of-materials.ts';
import { writeBundle } from './bundle.ts';
import { changelogOf } from './changelog.ts';
import { writeClientPackage } from './client-package.ts';
import { buildImage, describeImage, findEngine, TARGETS } from './images.ts';

const root = resolve(import.meta.dirname, '..');
const run = promisify(execFile);
/** A changelog of thousands of commits, a bill of thousands of packages. */
const MAX_OUTPUT = 64 * 1024 * 1024;
const ask = async (command: string, args: readonly string[], cwd = root): Promise<string> =>
  (await run(command, args, { cwd, maxBuffer: MAX_OUTPUT })).stdout;

type Manifest = {
  readonly name: string;
  readonly version: string;
  readonly optionalDependencies: Readonly<Record<string, string>>;
};
const readManifest = async (folder: string): Promise<Manifest> =>
  JSON.parse(await readFile(join(folder, 'package.json'), 'utf8')) as Manifest;

/** Names of the packages that stand whole in the bundle. */
async function packagesIn(folder: string): Promise<readonly string[]> {
  const names = await readdir(folder);
  const scoped = names.filter((name) => name.startsWith('@'));
  const inScopes = await Promise.all(
    scoped.map(async (scope) => (await readdir(join(folder, scope))).map((name) => `${scope}/${name}`)),
  );
  return [...names.filter((name) => !/^[.@]/.test(name)), ...inScopes.flat()];
}

/**
 * Takes away which Node a package in the bundle asks for: the program runs it on the Node that comes along, while npm would warn
 * of the older one that it runs on itself. Answers the version.
 */
async function freeOfEngine(folder: string): Promise<string> {
  const { engines: _, ...manifest } = (await readManifest(folder)) as Manifest & { readonly engines?: unknown };
  await writeFile(join(folder, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
  return manifest.version;
}

/**
 * What makes the bundle a package of npm: the packages in it travel along, since they were tested in these versions, and the Node that
 * it needs comes as the same optional package as in a checkout.
 */
async function makeInstallable(bundle: string): Promise<void> {
  const manifest = JSON.parse(await readFile(join(bundle, 'package.json'), 'utf8')) as object;
  const { optionalDependencies } = await readManifest(root);
  const dependencies: Record<string, string> = {};
  for (const name of await packagesIn(join(bundle, 'node_modules'))) {
    dependencies[name] = await freeOfEngine(join(bundle, 'node_modules', name));
  }
  const more = {
    description: 'An open, self-hosted, event-sourced notification engine.',
    dependencies,
    bundleDependencies: Object.keys(dependencies),
    optionalDependencies,
  };
  await writeFile(join(bundle, 'package.json'), `${JSON.stringify({ ...manifest, ...more }, null, 2)}\n`);
}

/** Packs a folder, and answers the name of the file. */
async function pack(folder: string, out: string): Promise<string> {
  const printed = await ask('npm', ['pack', '--json', '--ignore-scripts', '--pack-destination', out], folder);
  const [packed] = JSON.parse(printed) as readonly { readonly filename: string }[];
  if (!packed) throw new Error(`npm packed nothing in ${folder}: ${printed}`);
  return packed.filename;
}

async function sumsOf(out: string): Promise<string> {
  const lines: string[] = [];
  for (const { name } of (await readdir(out, { withFileTypes: true })).filter((entry) => entry.isFile())) {
    lines.push(
      `${createHash('sha256')
        .update(await readFile(join(out, name)))
        .digest('hex')}  ${name}\n`,
    );
  }
  return lines.toSorted((a, b) => a.slice(66).localeCompare(b.slice(66), 'en')).join('');
}

type Say = (words: string) => void;

/** Builds the images where an engine answers: they stay with the engine, and what names their contents stands in the file. */
async function listImages(file: string, say: Say): Promise<void> {
  const engine = await findEngine();
  if (engine === null) return say('without images, since no engine answers here');
  const lines: string[] = [];
  for (const target of TARGETS) {
    say(`the image ${target}`);
    lines.push(`${await describeImage(engine, await buildImage(engine, target, { say: () => undefined }))}\n`);
  }
  await writeFile(file, lines.join(''));
}

/** Writes everything into `out`, in place of what was there. `say` is told before each step. */
export async function makeRelease(out: string, say: Say, { images = false } = {}): Promise<void> {
  await rm(out, { recursive: true, force: true });
  await mkdir(out, { recursive: true });
  const work = join(out, 'work');
  say('the bundle, with the portal in it');
  await writeBundle(join(work, 'carillon'));
  await makeInstallable(join(work, 'carillon'));
  await pack(join(work, 'carillon'), out);
  say('the client');
  await writeClientPackage(join(work, 'client'));
  await pack(join(work, 'client'), out);
  say('the bill of materials');
  await writeFile(join(out, 'carillon.cdx.json'), await billOfMaterials());
  say('what has changed');
  const { version } = await readManifest(root);
  await writeFile(join(out, 'CHANGELOG.md'), changelogOf(version, await commitsSinceRelease()));
  await rm(work, { recursive: true });
  if (images) await listImages(join(out, 'images.txt'), say);
  await writeFile(join(out, 'SHA256SUMS'), await sumsOf(out));
}

/** Subjects of the commits since the newest tag of a release, newest first; all of them before the first release. */
async function commitsSinceRelease(): Promise<readonly string[]> {
  const tags = await ask('git', ['tag', '--list', 'v*', '--sort=-version:refname', '--merged']);
  const [newest = ''] = tags.split('\n');
  const log = await ask('git', ['log', '--format=%s', ...(newest === '' ? [] : [`${newest}..HEAD`])]);
  return log.split('\n').filter((line) => line !== '');
}

const HELP = `Makes what a release of Carillon would publish. Publishes nothing.

  npm run release -- --dry-run [--out FOLDER]

  --dry-run     required: to publish is a person's act, with these files
  --out FOLDER  where to; "release" unless told, whose contents are replaced
`;

if (import.meta.main) {
  const { values } = parseArgs({
    options: { 'dry-run': { type: 'boolean' }, out: { type: 'string' }, help: { type: 'boolean', short: 'h' } },
  });
  if (values.help) {
    process.stdout.write(HELP);
  } else if (!values['dry-run']) {
    process.stderr.write(`Nothing was made: say --dry-run.\n\n${HELP}`);
    process.exitCode = 2;
  } else {
    const out = resolve(values.out ?? join(root, 'release'));
    await makeRelease(out, (words) => void process.stderr.write(`${words} …\n`), { images: true });
    process.stdout.write(
      `${await readFile(join(out, 'SHA256SUMS'), 'utf8')}\nin ${relative(process.cwd(), out) || '.'}\n`,
    );
  }
}
