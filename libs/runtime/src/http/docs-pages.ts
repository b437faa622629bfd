import type { FastifyInstance, RouteShorthandOptions } from 'fastify';
import { readStaticFiles, sendStaticFile, type StaticFile } from './static-files.ts';

/** Files by folder. In a process with all roles, both servers share them. */
const READ = new Map<string, readonly StaticFile[]>();

function readDocs(folder: string): readonly StaticFile[] {
  const docs = READ.get(folder) ?? readStaticFiles(folder);
  READ.set(folder, docs);
  return docs;
}

/**
 * Serves the documentation below `/docs`, so that the `type` of an error body leads somewhere at the server that sent it.
 * `examples/demo.html` is the page `/docs/examples/demo`. Returns false if the documentation is not built.
 */
export function serveDocs(app: FastifyInstance, folder: string, options: RouteShorthandOptions = {}): boolean {
  const files = readDocs(folder);
  for (const file of files) {
    const path = `/docs/${file.name.replace(/(?:^index)?\.html$/, '')}`.replace(/\/$/, '');
    const sent = { ...file, isImmutable: file.isImmutable && file.name.startsWith('assets/') };
    app.get(path, options, async (request, reply) => sendStaticFile(sent, request, reply));
  }
  app.get('/docs/', options, async (_request, reply) => reply.redirect('/docs', 308));
  return files.length > 0;
}
