import { cp, glob, mkdir, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import type { CacheEntry, Workplace } from '../cache/cache-entry.ts';
import { debianArchitecture, unpackDebian } from '../cache/debian.ts';
import { runCommand } from '../process/run-command.ts';

/** The release of Debian that has PostgreSQL with the DocumentDB extension. */
const SUITE = 'forky';
const HOME = 'usr/lib/postgresql/18';

/** What is run of it. */
const PROGRAMS = ['postgres', 'initdb', 'psql'] as const;

/** What DocumentDB loads. */
const EXTENSIONS = ['pg_documentdb', 'pg_documentdb_core', 'pg_cron', 'vector', 'rum', 'postgis-3', 'tsm_system_rows'];

/**
 * Not followed, with all that only they need: raster and solid geometry of PostGIS, the scripts of Debian that manage
 * clusters, and what a program needs at installation only.
 */
const LEFT_OUT =
  /^(libgdal|libsfcgal|perl|libperl|postgresql-common|postgresql-client-common|ssl-cert|locales|debconf|tzdata|procps|passwd|adduser|libsystemd-shared|proj-data|gcc-\d+-base|libc-gconv|readline-common|sensible-utils|openssl-provider)/;

/** Not used, and most of what is unpacked. */
const USELESS = [
  'usr/share/{doc,locale,man,lintian,gdb,perl*,bash-completion,info,bug,doc-base}',
  `${HOME}/lib/bitcode`,
  'etc',
  'var',
];

/** Runs the program in `real/` on the C library that it was built for, under the name that it finds its files by. */
const wrapper = (loader: string, libraries: string): string => `#!/bin/sh
here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
libraries=$here/${relative(`${HOME}/bin`, libraries)}
exec "$libraries/${loader}" --argv0 "$here/\${0##*/}" --library-path "$libraries:$here/../lib" "$here/../real/\${0##*/}" "$@"
`;

async function wrapPrograms(root: string): Promise<void> {
  const { loader, libraries } = debianArchitecture();
  await mkdir(join(root, HOME, 'real'));
  for (const program of PROGRAMS) {
    const place = join(root, HOME, 'bin', program);
    await rename(place, join(root, HOME, 'real', program));
    await writeFile(place, wrapper(loader, libraries), { mode: 0o755 });
  }
}

/** Asks the loader for every library of what will be run, so that one that is left out shows here and not in a test. */
async function verifyLibraries(root: string, log: string): Promise<void> {
  const { loader, libraries } = debianArchitecture();
  const places = [join(root, libraries), join(root, HOME, 'lib')];
  const files = [
    ...PROGRAMS.map((program) => join(root, HOME, 'real', program)),
    ...EXTENSIONS.map((extension) => join(root, HOME, 'lib', `${extension}.so`)),
  ];
  for (const file of files) {
    const list = [join(root, libraries, loader), '--library-path', places.join(':'), '--list', file];
    // The loader says "not found" and then ends with success.
    const command = '"$@" >"$0" 2>&1 && ! grep "not found" "$0"';
    await runCommand({ command: '/bin/sh', args: ['-c', command, `${log}.libraries`, ...list], log });
  }
}

async function build(workplace: Workplace): Promise<void> {
  const { out, downloads, log, say } = workplace;
  say(`downloading from Debian ${SUITE}, about 75 MB`);
  const root = join(downloads, 'root');
  await rm(root, { recursive: true, force: true });
  const wish = { suite: SUITE, packages: ['postgresql-18-documentdb', 'postgresql-client-18'], leaveOut: LEFT_OUT };
  const packages = await unpackDebian(workplace, wish, root);
  for (const pattern of USELESS) {
    for await (const path of glob(join(root, pattern))) await rm(path, { recursive: true, force: true });
  }
  // Debian makes this link when it installs the package.
  const control = join(root, 'usr/share/postgresql/18/extension/postgis.control');
  await rm(control, { force: true });
  await symlink('postgis-3.control', control);
  await wrapPrograms(root);
  await verifyLibraries(root, log);
  await cp(root, out, { recursive: true, verbatimSymlinks: true });
  await writeFile(join(out, 'packages.txt'), `${packages.join('\n')}\n`);
}

/**
 * PostgreSQL 18 with DocumentDB, from packages of a Debian that need not be the machine's: nothing is installed, and the
 * programs run on the C library that they bring.
 */
export const POSTGRES_RELEASE: CacheEntry = { name: 'postgresql-18-documentdb-1', title: 'PostgreSQL 18', build };

export const postgresProgram = (folder: string, program: (typeof PROGRAMS)[number]): string =>
  join(folder, HOME, 'bin', program);
