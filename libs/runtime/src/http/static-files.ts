import { readdirSync, readFileSync, realpathSync } from 'node:fs';
import { extname, join, relative, sep } from 'node:path';
import { gzipSync } from 'node:zlib';
import type { FastifyReply, FastifyRequest } from 'fastify';

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

/** A file of a build, in memory. */
export type StaticFile = {
  /** Path below the folder: `examples/demo.html`. */
  readonly name: string;
  readonly type: string;
  /** The name changes with the content, so a browser may keep the file for ever. */
  readonly isImmutable: boolean;
  readonly bytes: Buffer;
  /** Returns the compressed bytes, or null if compression does not make the file smaller. */
  gzip(): Buffer | null;
};

/** The build ends every name that it makes with eight characters of the content's hash. */
const HASHED = /-[\w-]{8}\.\w+$/;

/**
 * Reads all files of known types below a folder once. The list is closed, so no request path reaches the disk, and a
 * new build does not mix with the served one. Empty if the folder does not exist.
 */
export function readStaticFiles(folder: string): readonly StaticFile[] {
  const build = resolveBuild(folder);
  return namesIn(build).flatMap((path) => {
    const type = TYPES[extname(path)];
    return type === undefined ? [] : [staticFile(path.replaceAll(sep, '/'), type, readFileSync(join(build, path)))];
  });
}

/**
 * The content security policy of all pages: no script but our own, no connection but to this server, and no way for text to
 * become markup. Mail bodies are shown in frames without scripts. `styles` is the list of allowed sources of styles.
 */
export const pagePolicy = (styles = "'self'"): string =>
  `default-src 'none'; script-src 'self'; style-src ${styles}; img-src 'self' data:; font-src 'self'; connect-src 'self'; frame-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'`;

const POLICY = pagePolicy();
const ONE_YEAR = 'public, max-age=31536000, immutable';

/** Returns true if an `Accept-Encoding` header names gzip, and not with a weight of 0 (RFC 9110, section 12.5.3). */
const takesGzip = (accepted: string): boolean => /\bgzip\b(?!\s*;\s*q=0(?:\.0*)?\s*(?:,|$))/.test(accepted);

/** Sends a file, compressed if the client takes gzip. */
export function sendStaticFile(file: StaticFile, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const gzip = takesGzip(request.headers['accept-encoding'] ?? '') ? file.gzip() : null;
  if (gzip) reply.header('content-encoding', 'gzip');
  if (file.isImmutable) reply.header('cache-control', ONE_YEAR);
  return reply
    .header('content-type', file.type)
    .header('vary', 'accept-encoding')
    .header('content-security-policy', POLICY)
    .send(gzip ?? file.bytes);
}

/** Returns a file with these bytes, which `sendStaticFile` sends. */
export function staticFile(name: string, type: string, bytes: Buffer): StaticFile {
  let compressed: Buffer | null = null;
  const gzip = (): Buffer | null => {
    if (COMPRESSED.has(extname(name))) return null;
    compressed ??= gzipSync(bytes, { level: 9 });
    return compressed;
  };
  return { name, type, isImmutable: HASHED.test(name), bytes, gzip };
}

const isAbsent = (error: unknown): boolean => (error as { readonly code?: string }).code === 'ENOENT';

/** Returns the folder that a link leads to: in a checkout the next build moves the link. */
function resolveBuild(folder: string): string {
  try {
    return realpathSync(folder);
  } catch (error) {
    if (isAbsent(error)) return folder;
    throw error;
  }
}

/** Returns the paths of all files below a folder. */
function namesIn(folder: string): readonly string[] {
  try {
    const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
    return entries
      .filter((entry) => entry.isFile())
      .map((entry) => relative(folder, join(entry.parentPath, entry.name)));
  } catch (error) {
    if (isAbsent(error)) return [];
    throw error;
  }
}
