import { existsSync } from 'node:fs';
import { mkdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Say } from '../service.ts';
import { hasRecordedContents, recordContents } from './cache-contents.ts';
import { cacheFolder } from './cache-folder.ts';
import { withLock } from './cache-lock.ts';

export type Workplace = {
  /** Folder of downloads. It survives a failed attempt, so that the next one continues. Removed after success. */
  readonly downloads: string;
  /** An empty folder that becomes the cache entry, so its files must not contain its path. */
  readonly out: string;
  readonly log: string;
  readonly say: Say;
};

export type CacheEntry = {
  /** Names the content, so it carries versions: another content gets another name. */
  readonly name: string;
  /** For progress lines. */
  readonly title: string;
  /** Downloads, verifies and puts together. Throws rather than leave anything doubtful. */
  build(workplace: Workplace): Promise<void>;
};

const STILL_AT_IT = 10_000;

export const entryFolder = (entry: CacheEntry, cache = cacheFolder()): string => join(cache, entry.name);

/** Whether it is there and whole. */
export const isCached = (entry: CacheEntry, cache = cacheFolder()): boolean =>
  hasRecordedContents(entryFolder(entry, cache));

async function build(entry: CacheEntry, cache: string, say: Say): Promise<void> {
  const folder = entryFolder(entry, cache);
  if (existsSync(folder)) {
    say('files are missing or cut short; fetching it anew');
    await rm(folder, { recursive: true, force: true });
  }
  const partial = join(cache, 'partial', entry.name);
  const workplace = {
    downloads: join(partial, 'downloads'),
    out: join(partial, 'out'),
    log: join(partial, 'log'),
    say,
  };
  await mkdir(workplace.downloads, { recursive: true });
  await rm(workplace.out, { recursive: true, force: true });
  await mkdir(workplace.out);
  const began = Date.now();
  const seconds = (): number => Math.round((Date.now() - began) / 1000);
  const timer = setInterval(() => say(`still at it after ${seconds()} s (log: ${workplace.log})`), STILL_AT_IT);
  try {
    await entry.build(workplace);
  } finally {
    clearInterval(timer);
  }
  recordContents(workplace.out);
  await rename(workplace.out, folder);
  await rm(partial, { recursive: true, force: true });
  say(`fetched in ${seconds()} s`);
}

/**
 * The folder of an entry, fetched first where it is not there. Safe when several processes do it at once: one fetches,
 * the others wait. An entry appears whole or not at all.
 */
export async function ensureCached(
  entry: CacheEntry,
  say: Say = () => undefined,
  cache = cacheFolder(),
): Promise<string> {
  const folder = entryFolder(entry, cache);
  if (isCached(entry, cache)) return folder;
  const tell: Say = (line) => say(`${entry.title}: ${line}`);
  await mkdir(join(cache, 'locks'), { recursive: true });
  await withLock(join(cache, 'locks', entry.name), tell, async () => {
    if (!isCached(entry, cache)) await build(entry, cache, tell);
  });
  return folder;
}
