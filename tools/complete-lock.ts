/**
 * `npm run lock` completes package-lock.json, `npm run lock -- --check` only says whether it is complete.
 *
 * Tools such as nx and oxlint come as one optional package per platform. When a registry does not offer one of them,
 * `npm install` leaves it out of the lock, and then `npm ci` refuses the lock on every machine. An entry with version and
 * platform is enough: npm fetches it only where the platform fits, and knows its checksum only there.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';

export type LockEntry = {
  version?: string;
  cpu?: string[];
  dev?: boolean;
  libc?: string[];
  optional?: boolean;
  os?: string[];
  optionalDependencies?: Record<string, string>;
};
export type Lock = { packages: Record<string, LockEntry> };

const SYSTEMS: Readonly<Record<string, string>> = { win: 'win32', windows: 'win32', fsevents: 'darwin' };
for (const os of 'aix android darwin freebsd linux netbsd openbsd openharmony sunos win32'.split(' ')) {
  Object.assign(SYSTEMS, { [os]: os });
}
const PROCESSORS = new Set('arm arm64 ia32 loong64 mips64el ppc64 riscv64 s390x wasm32 x64'.split(' '));

/** Reads the platform out of a name such as `@nx/nx-linux-arm64-musl`; nothing if it names none. */
function entryFor(name: string, range: string, dev: boolean): LockEntry | undefined {
  const version = /\d+\.\d+\.\d+\S*/.exec(range)?.[0];
  const words = (name.split('/').at(-1) ?? '').split(/[-_.]/);
  const os = words.map((word) => SYSTEMS[word]).find((found) => found !== undefined);
  const cpu = words.map((word) => (word.startsWith('armv') ? 'arm' : word)).find((word) => PROCESSORS.has(word));
  if (version === undefined || (os === undefined && cpu !== 'wasm32')) return undefined;
  const musl = words.some((word) => word.startsWith('musl'));
  const libc = musl ? 'musl' : words.some((word) => word.startsWith('gnu')) ? 'glibc' : undefined;
  return {
    version,
    ...(cpu !== undefined && { cpu: [cpu] }),
    ...(dev && { dev }),
    ...(os === 'linux' && libc !== undefined && { libc: [libc] }),
    optional: true,
    ...(os !== undefined && { os: [os] }),
  };
}

/** The folders in which Node looks for what a package at `from` imports, nearest first. */
function* folders(from: string): Generator<string> {
  for (let at = from; at !== ''; at = at.slice(0, Math.max(0, at.lastIndexOf('/node_modules/')))) {
    yield `${at}/node_modules/`;
    if (!at.includes('/node_modules/')) break;
  }
  yield 'node_modules/';
}

const fits = (version: string | undefined, range: string): boolean => !/^\d/.test(range) || version === range;

/** What the lock lacks: entries to add, and optional packages whose platform cannot be told from the name. */
export function findMissing({ packages }: Lock): { added: Record<string, LockEntry>; unknown: string[] } {
  const added: Record<string, LockEntry> = {};
  const unknown: string[] = [];
  for (const [from, { optionalDependencies = {}, dev = false }] of Object.entries(packages)) {
    for (const [name, range] of Object.entries(optionalDependencies)) {
      const places = [...folders(from)].map((folder) => folder + name);
      const place = places.find((candidate) => packages[candidate] ?? added[candidate]);
      if (place !== undefined && fits((packages[place] ?? added[place])?.version, range)) continue;
      const entry = entryFor(name, range, dev);
      if (!entry) unknown.push(`${name}@${range} of ${from || 'the root'}`);
      // Another version stands where this one would go: it goes below the package that wants it.
      else added[place === undefined ? `node_modules/${name}` : `${from}/node_modules/${name}`] = entry;
    }
  }
  return { added, unknown };
}

function main(): number {
  const file = resolve(import.meta.dirname, '../package-lock.json');
  // What npm wrote has this shape; anything else fails below with the name of the missing field.
  const lock = JSON.parse(readFileSync(file, 'utf8')) as Lock;
  const { added, unknown } = findMissing(lock);
  const names = Object.keys(added);
  for (const name of unknown)
    console.error(`package-lock.json lacks ${name}; its name tells no platform: install it again`);
  if (process.argv.includes('--check')) {
    if (names.length + unknown.length === 0) return 0;
    console.error(`package-lock.json lacks ${names.length} platform packages: run npm run lock`);
    return 1;
  }
  if (names.length > 0) {
    const all = Object.entries({ ...lock.packages, ...added });
    const sorted = all.toSorted(([a], [b]) => a.localeCompare(b, 'en')); // the order in which npm writes them
    writeFileSync(file, `${JSON.stringify({ ...lock, packages: Object.fromEntries(sorted) }, null, 2)}\n`);
  }
  console.log(`${names.length} platform packages added to package-lock.json`);
  return unknown.length === 0 ? 0 : 1;
}

if (import.meta.main) process.exitCode = main();
