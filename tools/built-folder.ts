/** Folders that a build writes: each is a link to the last build, and is built again when the files that it is made from differ. */
import { createHash } from 'node:crypto';
import { readFileSync, readdirSync, statSync } from 'node:fs';
import { readFile, readlink, rename, rm, symlink, writeFile } from 'node:fs/promises';
import { basename, dirname, join, relative } from 'node:path';

/** The file of a build that holds the fingerprint of its sources. */
const MADE_FROM = '.made-from';

/** Returns one hash of files and folders. `isSource` leaves out files that do not change the build. */
export function fingerprintOf(
  root: string,
  sources: readonly string[],
  seed: string,
  isSource: (path: string) => boolean = () => true,
): string {
  const hash = createHash('sha256').update(`${seed} ${process.version}`);
  const add = (path: string): void => {
    hash.update(`\0${relative(root, path)}\0`).update(readFileSync(path));
  };
  for (const source of sources) {
    const path = join(root, source);
    if (!statSync(path).isDirectory()) add(path);
    else {
      const files = readdirSync(path, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
      for (const file of files.map((entry) => join(entry.parentPath, entry.name)).toSorted()) {
        if (isSource(file)) add(file);
      }
    }
  }
  return hash.digest('hex');
}

/** Returns the fingerprint of the build at `place`, or null if there is no build. */
export const madeFrom = (place: string): Promise<string | null> =>
  readFile(join(place, MADE_FROM), 'utf8').catch(() => null);

/** Codes of `rename` if a folder stands at the new name. Windows reports `EPERM` for links too. */
const IN_THE_WAY = new Set(['EISDIR', 'ENOTEMPTY', 'EEXIST', ...(process.platform === 'win32' ? ['EPERM'] : [])]);
const MAX_TRIES = 20;

/**
 * Makes `place` a link to the build in `fresh`. A reader finds the previous build or this build, even if several builds end at
 * once. Only a folder from a time before links, and any link on Windows, is missing for a moment.
 */
export async function putInPlace(fresh: string, place: string): Promise<void> {
  const link = `${fresh}.link`;
  // Every user of Windows may make a junction. Its target has to be absolute.
  await symlink(process.platform === 'win32' ? fresh : basename(fresh), link, 'junction');
  for (let attempt = 1; ; attempt += 1) {
    const refused = await rename(link, place).then(
      () => null,
      (error: NodeJS.ErrnoException) => error,
    );
    if (refused === null) return;
    if (attempt === MAX_TRIES || !IN_THE_WAY.has(refused.code ?? '')) throw refused;
    const old = `${fresh}.before-${attempt}`;
    // Another build may have moved it. If it still stands here, the next attempt fails too.
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

/** Removes builds of ended processes. The build that the link leads to stays, because a process may be reading it. */
async function removeLeftovers(place: string): Promise<void> {
  for (const name of readdirSync(dirname(place))) {
    if (!name.startsWith(`.${basename(place)}-`)) continue;
    const [, pid] = /^-(?:old-)?(\d+)/.exec(name.slice(basename(place).length + 1)) ?? [];
    if (pid === undefined || isAlive(Number(pid))) continue;
    const isInPlace = basename(await readlink(place).catch(() => '')) === name;
    if (!isInPlace) await rm(join(dirname(place), name), { recursive: true, force: true });
  }
}

/** Runs `build` with a new folder, and puts the folder in place. A failed build leaves the previous build in place. */
export async function buildInto(
  place: string,
  fingerprint: string,
  build: (fresh: string) => Promise<void>,
): Promise<void> {
  await removeLeftovers(place);
  const fresh = join(dirname(place), `.${basename(place)}-${process.pid}-${Date.now().toString(36)}`);
  try {
    await build(fresh);
  } catch (error) {
    await rm(fresh, { recursive: true, force: true });
    throw error;
  }
  await writeFile(join(fresh, MADE_FROM), fingerprint);
  await putInPlace(fresh, place);
}
