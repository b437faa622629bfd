import { execFile } from 'node:child_process';
import { glob, mkdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { runCommand, runWithRetries } from '../process/run-command.ts';
import type { Workplace } from './cache-entry.ts';
import { DEBIAN_KEYRING } from './tools.ts';

const DEFAULT_MIRROR = 'http://deb.debian.org/debian';

export type DebianArchitecture = { readonly name: string; readonly libraries: string; readonly loader: string };

/** Returns Debian's name of this architecture, its library folder and its dynamic loader. */
export function debianArchitecture(architecture: string = process.arch): DebianArchitecture {
  switch (architecture) {
    case 'x64':
      return { name: 'amd64', libraries: 'usr/lib/x86_64-linux-gnu', loader: 'ld-linux-x86-64.so.2' };
    case 'arm64':
      return { name: 'arm64', libraries: 'usr/lib/aarch64-linux-gnu', loader: 'ld-linux-aarch64.so.1' };
    default:
      throw new Error(`Debian packages are unpacked on x64 and arm64 only, not on ${architecture}`);
  }
}

/** The first mirror of Debian itself in the sources of this machine, in either of their two formats. */
export function mirrorIn(sources: readonly string[]): string {
  const uris = sources.flatMap((text) => [
    ...[...text.matchAll(/^URIs:\s*(\S+)/gm)].map(([, uri = '']) => uri),
    ...[...text.matchAll(/^deb\s+(?:\[[^\]]*\]\s+)?(\S+)/gm)].map(([, uri = '']) => uri),
  ]);
  return uris.find((uri) => /^https?:.*\/debian\/?$/.test(uri)) ?? DEFAULT_MIRROR;
}

async function findMirror(): Promise<string> {
  const sources: string[] = [];
  for await (const file of glob('/etc/apt/{sources.list,sources.list.d/*}')) {
    sources.push(await readFile(file, 'utf8').catch(() => ''));
  }
  return mirrorIn(sources);
}

export type Dependencies = ReadonlyMap<string, readonly string[]>;

/** Reads what `apt-cache depends --recurse` prints. Of alternatives (`|Depends`) the first one counts. */
export function parseDependencies(printed: string): Dependencies {
  const found = new Map<string, string[]>();
  let current: string[] = [];
  let isFurtherAlternative = false;
  for (const line of printed.split('\n')) {
    const [, bar = '', wanted = ''] = /^ ([ |])(?:Pre-?)?Depends: (\S+)/.exec(line) ?? [];
    if (wanted !== '') {
      if (!isFurtherAlternative) current.push(wanted);
      isFurtherAlternative = bar === '|';
    } else if (/^[^\s<]/.test(line)) {
      current = [];
      found.set(line.trim(), current);
      isFurtherAlternative = false;
    }
  }
  return found;
}

/** All that these packages need, except for what is left out and for what only that would need. */
export function closure(roots: readonly string[], dependencies: Dependencies, leftOut: RegExp): readonly string[] {
  const reached = new Set<string>();
  const todo = [...roots];
  for (let name = todo.pop(); name !== undefined; name = todo.pop()) {
    if (reached.has(name) || leftOut.test(name) || name.startsWith('<')) continue;
    reached.add(name);
    todo.push(...(dependencies.get(name) ?? []));
  }
  return [...reached].toSorted();
}

export type DebianWish = {
  /** The release to take packages from. It is another one than the machine's own: nothing of it is installed. */
  readonly suite: string;
  readonly packages: readonly string[];
  /** Names of packages that are not followed. */
  readonly leaveOut: RegExp;
};

/**
 * apt with lists of its own, so that the machine keeps its sources and nothing is installed. What the machine says about
 * proxies holds here too. apt verifies the signature of the release and through it each package.
 */
async function configureApt({ downloads }: Workplace, suite: string): Promise<string> {
  const apt = join(downloads, 'apt');
  for (const folder of ['state/lists/partial', 'cache/archives/partial', 'preferences.d', 'sources.d']) {
    await mkdir(join(apt, folder), { recursive: true });
  }
  await writeFile(join(apt, 'status'), '');
  await writeFile(
    join(apt, 'sources.list'),
    `deb [arch=${debianArchitecture().name} signed-by=${DEBIAN_KEYRING}] ${await findMirror()} ${suite} main\n`,
  );
  const configuration = join(apt, 'apt.conf');
  await writeFile(
    configuration,
    `Dir::Etc::sourcelist "${apt}/sources.list";
Dir::Etc::sourceparts "${apt}/sources.d";
Dir::Etc::preferences "${apt}/no-preferences";
Dir::Etc::preferencesparts "${apt}/preferences.d";
Dir::State "${apt}/state";
Dir::State::status "${apt}/status";
Dir::Cache "${apt}/cache";
APT::Architecture "${debianArchitecture().name}";
#clear APT::Architectures;
#clear APT::Update::Post-Invoke;
#clear APT::Update::Post-Invoke-Success;
APT::Install-Recommends "false";
APT::Sandbox::User "";
Acquire::Languages "none";
Acquire::Retries "3";
`,
  );
  return configuration;
}

/** Downloads packages with what they need and unpacks them into a folder. Gives their names with versions. */
export async function unpackDebian(workplace: Workplace, wish: DebianWish, into: string): Promise<readonly string[]> {
  const { downloads, log } = workplace;
  const configuration = await configureApt(workplace, wish.suite);
  await runWithRetries({ command: 'apt-get', args: ['-c', configuration, '-q', 'update'], log });
  const { stdout } = await promisify(execFile)(
    'apt-cache',
    ['-c', configuration, 'depends', '--recurse', '--no-recommends', '--no-suggests', '--no-conflicts', '--no-breaks']
      .concat(['--no-replaces', '--no-enhances'])
      .concat(wish.packages),
    { maxBuffer: 64 * 1024 * 1024 },
  );
  const packages = closure(wish.packages, parseDependencies(stdout), wish.leaveOut);
  const folder = join(downloads, 'debs');
  await mkdir(folder, { recursive: true });
  await runWithRetries({
    command: 'apt-get',
    args: ['-c', configuration, '-q', 'download', ...packages],
    cwd: folder,
    log,
  });
  await mkdir(into, { recursive: true });
  const unpacked: string[] = [];
  // Where one package was downloaded in two versions, the later one stays.
  for await (const file of glob(join(folder, '*.deb'))) {
    const [name = '', version = ''] = (file.split('/').at(-1) ?? '').split('_');
    if (!packages.includes(name)) continue;
    await runCommand({ command: 'dpkg-deb', args: ['-x', file, into], log });
    unpacked.push(`${name} ${decodeURIComponent(version)}`);
  }
  return unpacked.toSorted();
}
