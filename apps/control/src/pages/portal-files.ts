import { readdirSync, readFileSync, realpathSync } from 'node:fs';
import { extname, join } from 'node:path';
import { gzipSync } from 'node:zlib';

const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
};
/** Fonts are compressed already. */
const COMPRESSED = '.woff2';

export type PortalFile = {
  readonly name: string;
  readonly type: string;
  /** Its name changes with its content: a browser may keep it for ever. */
  readonly isImmutable: boolean;
  readonly bytes: Buffer;
  /** The same, smaller; null of what is compressed already. */
  gzip(): Buffer | null;
};

export type PortalFiles = {
  /** With `CARILLON_NONCE` where the nonce of an answer goes; null: the portal is not built. */
  readonly index: string | null;
  readonly assets: readonly PortalFile[];
};

/** The build ends every name that it makes with eight characters of the content's hash. */
const HASHED = /-[\w-]{8}\.\w+$/;

/**
 * Everything that a browser may ask for of the portal, read once: the list is closed, so that no path of a request ever reaches
 * the disk, and a build that takes the place of this one while the server runs does not mix with it.
 */
export function readPortal(place: string): PortalFiles {
  const folder = buildIn(place);
  const assets = namesIn(join(folder, 'assets')).flatMap((name) => {
    const type = TYPES[extname(name)];
    return type === undefined ? [] : [fileOf(name, type, readFileSync(join(folder, 'assets', name)))];
  });
  return { index: textOf(join(folder, 'index.html')), assets };
}

function fileOf(name: string, type: string, bytes: Buffer): PortalFile {
  let compressed: Buffer | null = null;
  const gzip = (): Buffer | null => {
    if (extname(name) === COMPRESSED) return null;
    compressed ??= gzipSync(bytes, { level: 9 });
    return compressed;
  };
  return { name, type, isImmutable: HASHED.test(name), bytes, gzip };
}

const isAbsent = (error: unknown): boolean => (error as { readonly code?: string }).code === 'ENOENT';

/** In a checkout the folder is a link that the next build moves. */
function buildIn(place: string): string {
  try {
    return realpathSync(place);
  } catch (error) {
    if (isAbsent(error)) return place;
    throw error;
  }
}

function namesIn(folder: string): readonly string[] {
  try {
    return readdirSync(folder);
  } catch (error) {
    if (isAbsent(error)) return [];
    throw error;
  }
}

function textOf(path: string): string | null {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (isAbsent(error)) return null;
    throw error;
  }
}
