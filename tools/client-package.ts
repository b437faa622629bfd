/** Writes what `@carillon/client` is on npm: plain JavaScript and types, with those of the management API from its description. */
import { execFile } from 'node:child_process';
import { cp, mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join, resolve } from 'node:path';
import { promisify } from 'node:util';
import { managementApiTypes } from './portal.ts';

const root = resolve(import.meta.dirname, '..');
const source = join(root, 'libs/client');
const run = promisify(execFile);

/** The types of the source know no description: here it stands beside them. */
const MANAGEMENT_TYPES = `import type { Client } from 'openapi-fetch';
import type { paths } from './management-api.js';
import type { ManagementOptions } from './management-options.js';
export type { components, operations, paths } from './management-api.js';
export type { ManagementOptions } from './management-options.js';
/** The management API, typed by its own description. Nothing is repeated by itself: whoever does so gives an Idempotency-Key. */
export declare function createManagementClient(options: ManagementOptions): Client<paths>;
`;

const COMPILE = `--declaration --rewriteRelativeImportExtensions --strict --skipLibCheck --noEmitOnError --ignoreConfig
  --module nodenext --target es2023 --lib es2024,dom,dom.asynciterable --types`.split(/\s+/);

type Manifest = {
  readonly version: string;
  readonly license: string;
  readonly dependencies: Readonly<Record<string, string>>;
};

/** Into `out`, in place of what was there; ready for `npm pack`. */
export async function writeClientPackage(out: string): Promise<void> {
  await rm(out, { recursive: true, force: true });
  await mkdir(out, { recursive: true });
  const files = ['src/index.ts', 'src/management.ts'].map((file) => join(source, file));
  const compiler = join(root, 'node_modules/typescript/bin/tsc');
  await run(process.execPath, [compiler, ...files, '--outDir', out, ...COMPILE, ''], { cwd: root });
  for (const name of await readdir(out)) {
    if (!name.endsWith('.d.ts')) continue;
    const text = await readFile(join(out, name), 'utf8');
    await writeFile(join(out, name), text.replaceAll(/(from '\.\/[^']+)\.ts'/g, "$1.js'"));
  }
  await writeFile(join(out, 'management.d.ts'), MANAGEMENT_TYPES);
  await writeFile(join(out, 'management-api.d.ts'), await managementApiTypes());
  const { version, license, dependencies } = JSON.parse(
    await readFile(join(source, 'package.json'), 'utf8'),
  ) as Manifest;
  const entry = (name: string) => ({ types: `./${name}.d.ts`, default: `./${name}.js` });
  const manifest = {
    name: '@carillon/client',
    version,
    description: 'Sends events to Carillon, and asks its management API.',
    license,
    type: 'module',
    sideEffects: false,
    engines: { node: '>=20.19' },
    exports: { '.': entry('index'), './management': entry('management') },
    dependencies,
  };
  await writeFile(join(out, 'package.json'), `${JSON.stringify(manifest, null, 2)}\n`);
  await cp(join(root, 'LICENSE'), join(out, 'LICENSE'));
  await cp(join(source, 'README.md'), join(out, 'README.md'));
}
