import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Say, Service } from '../service.ts';
import { ensureCached, entryFolder, type CacheEntry } from './cache-entry.ts';

const FILE = 'classes.jsa';

const entryOf = (release: CacheEntry, build: CacheEntry['build']): CacheEntry => ({
  name: `${release.name}-classes`,
  title: release.title,
  build,
});

const archiveOf = (release: CacheEntry): string => join(entryFolder(entryOf(release, () => Promise.resolve())), FILE);

/**
 * Arguments with which Java takes classes from an archive of an earlier run, or none. That saves half of the start. An
 * archive of another Java is ignored by Java itself.
 */
export function sharedClasses(release: CacheEntry): readonly string[] {
  const archive = archiveOf(release);
  return existsSync(archive) ? [`-XX:SharedArchiveFile=${archive}`] : [];
}

/** Makes that archive: starts the service once, which writes it when it stops. Without one, it only starts slower. */
export async function archiveClasses(
  release: CacheEntry,
  start: (javaArguments: readonly string[]) => Promise<Service>,
  say: Say,
): Promise<void> {
  const entry = entryOf(release, async ({ out, say: tell }) => {
    tell('starting it once, so that later starts are quick');
    const service = await start([`-XX:ArchiveClassesAtExit=${join(out, FILE)}`]);
    await service.stop();
  });
  await ensureCached(entry, say);
}
