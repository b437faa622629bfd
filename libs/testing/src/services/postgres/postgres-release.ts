import { existsSync } from 'node:fs';
import { cp, glob, mkdir, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { join, relative } from 'node:path';
import type { CacheEntry, Workplace } from '../cache/cache-entry.ts';
import { debianArchitecture, unpackDebian } from '../cache/debian.ts';
import { runCommand } from '../process/run-command.ts';

type Program = 'postgres' | 'initdb' | 'psql' | 'pg_basebackup' | 'pg_recvlogical';

export type PostgresRelease = CacheEntry & {
  /** Major version, as in the paths of Debian's packages. */
  readonly major: number;
};

type Recipe = {
  readonly name: string;
  readonly title: string;
  readonly major: number;
  /** Release of Debian that the packages come from. It need not be the machine's. */
  readonly suite: string;
  readonly packages: readonly string[];
  readonly programs: readonly Program[];
  /** Libraries of the server that it loads itself. */
  readonly modules: readonly string[];
  /** Size of the download, for a progress line. */
  readonly megabytes: number;
};

/**
 * Not followed, with all that only they need: raster and solid geometry of PostGIS, the compiler of long queries, the
 * scripts of Debian that manage clusters, and what a program needs at installation only.
 */
const LEFT_OUT =
  /^(libgdal|libsfcgal|libllvm|perl|libperl|postgresql-common|postgresql-client-common|ssl-cert|locales|debconf|tzdata|procps|passwd|adduser|libsystemd-shared|proj-data|gcc-\d+-base|libc-gconv|readline-common|sensible-utils|openssl-provider)/;

const homeOf = (major: number): string => `usr/lib/postgresql/${major}`;

/** Not used, and most of what is unpacked. */
const uselessIn = (home: string): readonly string[] => [
  'usr/share/{doc,locale,man,lintian,gdb,perl*,bash-completion,info,bug,doc-base}',
  `${home}/lib/{bitcode,llvmjit*}`,
  'etc',
  'lib',
  'lib64',
  'bin',
  'sbin',
  'var',
];

/** Runs the program in `real/` on the C library that it was built for, under the name that it finds its files by. */
const wrapper = (loader: string, bin: string, libraries: string): string => `#!/bin/sh
here=$(CDPATH= cd -- "$(dirname -- "$0")" && pwd)
libraries=$here/${relative(bin, libraries)}
exec "$libraries/${loader}" --argv0 "$here/\${0##*/}" --library-path "$libraries:$here/../lib" "$here/../real/\${0##*/}" "$@"
`;

async function wrapPrograms(home: string, { major, programs }: Recipe): Promise<void> {
  const { loader, libraries } = debianArchitecture();
  await mkdir(join(home, 'real'));
  for (const program of programs) {
    const place = join(home, 'bin', program);
    await rename(place, join(home, 'real', program));
    await writeFile(place, wrapper(loader, join(homeOf(major), 'bin'), libraries), { mode: 0o755 });
  }
}

/** Asks the loader for every library of what will be run, so that one that is left out shows here and not in a test. */
async function verifyLibraries(root: string, recipe: Recipe, log: string): Promise<void> {
  const { loader, libraries } = debianArchitecture();
  const home = join(root, homeOf(recipe.major));
  const files = [
    ...recipe.programs.map((program) => join(home, 'real', program)),
    ...recipe.modules.map((module) => join(home, 'lib', `${module}.so`)),
  ];
  for (const file of files) {
    const places = `${join(root, libraries)}:${join(home, 'lib')}`;
    const list = [join(root, libraries, loader), '--library-path', places, '--list', file];
    // The loader says "not found" and then ends with success.
    const command = '"$@" >"$0" 2>&1 && ! grep "not found" "$0"';
    await runCommand({ command: '/bin/sh', args: ['-c', command, `${log}.libraries`, ...list], log });
  }
}

async function build({ out, downloads, log, say }: Workplace, recipe: Recipe): Promise<void> {
  const { suite, packages, major } = recipe;
  say(`downloading from Debian ${suite}, about ${recipe.megabytes} MB`);
  const root = join(downloads, 'root');
  await rm(root, { recursive: true, force: true });
  const wish = { suite, packages, leaveOut: LEFT_OUT };
  const unpacked = await unpackDebian({ out, downloads, log, say }, wish, root);
  // Until bookworm, packages have files in /lib too, which is a link to /usr/lib on every machine.
  if (existsSync(join(root, 'lib')))
    await cp(join(root, 'lib'), join(root, 'usr/lib'), { recursive: true, verbatimSymlinks: true });
  for (const pattern of uselessIn(homeOf(major))) {
    for await (const path of glob(join(root, pattern))) await rm(path, { recursive: true, force: true });
  }
  if (recipe.modules.includes('postgis-3')) {
    // Debian makes this link when it installs the package.
    const control = join(root, `usr/share/postgresql/${major}/extension/postgis.control`);
    await rm(control, { force: true });
    await symlink('postgis-3.control', control);
  }
  await wrapPrograms(join(root, homeOf(major)), recipe);
  await verifyLibraries(root, recipe, log);
  await cp(root, out, { recursive: true, verbatimSymlinks: true });
  await writeFile(join(out, 'packages.txt'), `${unpacked.join('\n')}\n`);
}

/** Returns a release that is unpacked from packages of Debian. Its programs run on the C library of their own Debian. */
const release = (recipe: Recipe): PostgresRelease => ({
  name: recipe.name,
  title: recipe.title,
  major: recipe.major,
  build: (workplace) => build(workplace, recipe),
});

/** PostgreSQL 18 with DocumentDB, for FerretDB. */
export const DOCUMENTDB_RELEASE = release({
  name: 'postgresql-18-documentdb-1',
  title: 'PostgreSQL 18',
  major: 18,
  suite: 'forky',
  packages: ['postgresql-18-documentdb', 'postgresql-client-18'],
  programs: ['postgres', 'initdb', 'psql'],
  modules: [
    'pg_documentdb',
    'pg_documentdb_core',
    'pg_cron',
    'vector',
    'rum',
    'postgis-3',
    'tsm_system_rows',
    'pgoutput',
  ],
  megabytes: 75,
});

/** The server that tests of database changes read. */
export const POSTGRES_15_RELEASE = release({
  name: 'postgresql-15-1',
  title: 'PostgreSQL 15',
  major: 15,
  suite: 'bookworm',
  packages: ['postgresql-15', 'postgresql-client-15'],
  programs: ['postgres', 'initdb', 'psql', 'pg_basebackup', 'pg_recvlogical'],
  modules: ['pgoutput'],
  megabytes: 45,
});

export const postgresProgram = (folder: string, { major }: PostgresRelease, program: Program): string =>
  join(folder, homeOf(major), 'bin', program);
