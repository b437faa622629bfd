import { closeSync, existsSync, openSync, readdirSync, readSync, statSync } from 'node:fs';

/** The size of a data file's header (sqlite.org/fileformat2.html, section 1.3). */
const HEADER_BYTES = 100;
const MAGIC = new TextEncoder().encode('SQLite format 3\0');
const MAX_PAGE_BYTES = 65_536;

const sizeOf = (file: string): number => statSync(file, { throwIfNoEntry: false })?.size ?? 0;

/**
 * Describes what a closed data file lacks, or null. Reads only its header, because a truncated file would otherwise be
 * opened, or treated as new.
 */
export function cutShort(database: string, keyFolder: string): string | null {
  if (!existsSync(database) || sizeOf(`${database}-wal`) > 0) return null;
  const size = sizeOf(database);
  if (size === 0) {
    const hasKeys = existsSync(keyFolder) && readdirSync(keyFolder).some((name) => name.endsWith('.key'));
    if (!hasKeys) return null;
    return `${database} is empty, and the keys of a deployment are in the folder (to start with an empty data file and these keys, delete the empty file)`;
  }
  if (size < HEADER_BYTES) return `${database} is cut short: it has ${size} bytes, less than a header`;
  const bytes = headerOf(database);
  // SQLite says of any other that it is no database.
  if (!MAGIC.every((byte, at) => byte === bytes[at])) return null;
  const header = new DataView(bytes.buffer);
  const page = header.getUint16(16) === 1 ? MAX_PAGE_BYTES : header.getUint16(16);
  // The number of pages counts where it was written together with the last change.
  if (header.getUint32(24) !== header.getUint32(92)) return null;
  const told = header.getUint32(28) * page;
  return size < told ? `${database} is cut short: it has ${size} bytes of ${told}` : null;
}

function headerOf(database: string): Uint8Array<ArrayBuffer> {
  const bytes = new Uint8Array(HEADER_BYTES);
  const file = openSync(database, 'r');
  try {
    readSync(file, bytes, 0, HEADER_BYTES, 0);
    return bytes;
  } finally {
    closeSync(file);
  }
}
