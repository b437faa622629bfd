import { lstatSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, relative } from 'node:path';

/** Written last, so that a folder that has it is whole. */
const FILE = 'contents.json';

/** Path of each file and its size. A link counts with the length of where it points to. */
type Contents = Readonly<Record<string, number>>;

function listContents(folder: string): Contents {
  const files = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isDirectory())
    .map((entry) => join(entry.parentPath, entry.name));
  return Object.fromEntries(files.map((file) => [relative(folder, file), lstatSync(file).size]));
}

export function recordContents(folder: string): void {
  writeFileSync(join(folder, FILE), JSON.stringify(listContents(folder)));
}

/**
 * Whether a folder has all that was recorded, and nothing cut short: a disk that was full or a stray `rm` shows here. A file may have grown:
 * some machines add an authority of their own to each list of certificates.
 */
export function hasRecordedContents(folder: string): boolean {
  try {
    const recorded = JSON.parse(readFileSync(join(folder, FILE), 'utf8')) as Contents;
    return Object.entries(recorded).every(([file, size]) => lstatSync(join(folder, file)).size >= size);
  } catch {
    return false;
  }
}
