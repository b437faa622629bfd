import type { FastifyInstance, RouteShorthandOptions } from 'fastify';
import { readStaticFiles, sendStaticFile, staticFile, type StaticFile } from './static-files.ts';

/** Files by folder. In a process with all roles, the servers share them. */
const READ = new Map<string, readonly StaticFile[]>();

function readDocs(folder: string): readonly StaticFile[] {
  const docs = READ.get(folder) ?? readStaticFiles(folder);
  READ.set(folder, docs);
  return docs;
}

/** Links of each page to the portal and to the API reference. The layout of the documentation marks them. */
const PORTAL_LINKS = /<!--portal-->.*?<!--\/portal-->/gs;

/** Returns a page of the documentation for a port that has neither portal nor API reference. */
export const withoutPortalLinks = (html: string): string => html.replaceAll(PORTAL_LINKS, '');

function fileWithoutPortalLinks(file: StaticFile): StaticFile {
  if (!file.name.endsWith('.html')) return file;
  return staticFile(file.name, file.type, Buffer.from(withoutPortalLinks(file.bytes.toString('utf8'))));
}

type DocsOptions = RouteShorthandOptions & {
  /** True on the control port, which also serves the portal and the API reference. */
  readonly hasPortal?: boolean;
};

/**
 * Serves the documentation below `/docs`, so that the `type` of an error body leads somewhere at the server that sent it.
 * `examples/demo.html` is the page `/docs/examples/demo`. Returns false if the documentation is not built.
 */
export function serveDocs(
  app: FastifyInstance,
  folder: string,
  { hasPortal = false, ...options }: DocsOptions = {},
): boolean {
  const files = readDocs(folder).map((file) => (hasPortal ? file : fileWithoutPortalLinks(file)));
  for (const file of files) {
    const path = `/docs/${file.name.replace(/(?:^index)?\.html$/, '')}`.replace(/\/$/, '');
    const sent = { ...file, isImmutable: file.isImmutable && file.name.startsWith('assets/') };
    app.get(path, options, async (request, reply) => sendStaticFile(sent, request, reply));
  }
  app.get('/docs/', options, async (_request, reply) => reply.redirect('/docs', 308));
  return files.length > 0;
}
