import { readdirSync, readFileSync, realpathSync } from 'node:fs';
import { extname, join, sep } from 'node:path';
import { gzipSync } from 'node:zlib';

const TYPES: Readonly<Record<string, string>> = {
  '.css': 'text/css; charset=utf-8',
  '.html': 'text/html; charset=utf-8',
  '.js': 'text/javascript; charset=utf-8',
  '.json': 'application/json; charset=utf-8',
  '.png': 'image/png',
  '.svg': 'image/svg+xml',
  '.woff2': 'font/woff2',
};
/** Types that gzip does not make smaller. */
const COMPRESSED = new Set(['.png', '.woff2']);

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

/** Reads every file of the documentation, in subfolders too. Names are paths: `examples/demo.html`. Empty if it is not built. */
export function readDocs(place: string): readonly PortalFile[] {
  const folder = buildIn(place);
  return namesIn(folder, { recursive: true }).flatMap((path) => {
    const type = TYPES[extname(path)];
    if (type === undefined) return [];
    const name = path.replaceAll(sep, '/');
    const file = fileOf(name, type, readFileSync(join(folder, path)));
    return [{ ...file, isImmutable: file.isImmutable && name.startsWith('assets/') }];
  });
}

function fileOf(name: string, type: string, bytes: Buffer): PortalFile {
  let compressed: Buffer | null = null;
  const gzip = (): Buffer | null => {
    if (COMPRESSED.has(extname(name))) return null;
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

function namesIn(folder: string, { recursive = false } = {}): readonly string[] {
  try {
    return readdirSync(folder, { recursive, encoding: 'utf8' });
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
