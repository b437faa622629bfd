import { randomBytes } from 'node:crypto';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Inbox } from '@carillon/ports';
import type { Access } from '../access/access.ts';
import { visibleScopeOf } from '../access/visible-scope.ts';
import { audited } from '../audit/facts.ts';
import { unbuiltPage, unknownPage } from './page-frame.ts';
import { readDocs, readPortal, type PortalFile } from './portal-files.ts';
import { notFound } from '../routes/app.ts';

/** Paths served by the portal. For unknown paths below them, the portal shows that the page does not exist. */
const PORTAL_PAGES = [
  '/',
  '/sign-in',
  '/welcome',
  '/invitation',
  '/confirm',
  '/inbox',
  '/deliveries',
  '/workspaces',
  '/workspaces/*',
  '/settings',
  '/settings/*',
];

/**
 * No script but our own, no connection but to this server, and no way for text to become markup; mail bodies are shown
 * in frames without scripts, and their pictures and styles are the mail's own business. `styles` says which styles count.
 */
const policyWith = (styles: string): string =>
  `default-src 'none'; script-src 'self'; style-src ${styles}; img-src 'self' data:; font-src 'self'; connect-src 'self'; frame-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'`;
const POLICY = policyWith("'self'");

const HTML = 'text/html; charset=utf-8';

export const sendText = (reply: FastifyReply, text: string): FastifyReply =>
  reply.header('content-type', HTML).header('content-security-policy', POLICY).send(text);

/** Its files hold nothing of a deployment: what the pages show they ask the management API for. */
const OPEN = { config: { permission: 'anybody' } } as const;

/** A year: for browsers that is for ever. */
const FOR_EVER = 'public, max-age=31536000, immutable';

const takesGzip = ({ headers }: FastifyRequest): boolean => /\bgzip\b/.test(headers['accept-encoding'] ?? '');

function sendFile(file: PortalFile, request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const gzip = takesGzip(request) ? file.gzip() : null;
  if (gzip) reply.header('content-encoding', 'gzip');
  if (file.isImmutable) reply.header('cache-control', FOR_EVER);
  return reply
    .header('content-type', file.type)
    .header('vary', 'accept-encoding')
    .header('content-security-policy', POLICY)
    .send(gzip ?? file.bytes);
}

function sendPortal(index: string | null, reply: FastifyReply): FastifyReply {
  if (index === null) return sendText(reply.code(503), unbuiltPage());
  // The components of the portal write one style of their own.
  const nonce = randomBytes(16).toString('base64');
  return reply
    .header('content-type', HTML)
    .header('content-security-policy', policyWith(`'self' 'nonce-${nonce}'`))
    .send(index.replaceAll('CARILLON_NONCE', nonce));
}

/** Serves the documentation, to everybody. `examples/demo.html` is the page `/docs/examples/demo`. */
function serveDocs(app: FastifyInstance, folder: string): void {
  const files = readDocs(folder);
  for (const file of files) {
    const path = `/docs/${file.name.replace(/(?:^index)?\.html$/, '')}`.replace(/\/$/, '');
    app.get(path, OPEN, async (request, reply) => sendFile(file, request, reply));
  }
  if (files.length === 0) app.get('/docs', OPEN, async (_request, reply) => sendText(reply.code(503), unbuiltPage()));
  app.get('/docs/', OPEN, async (_request, reply) => reply.redirect('/docs', 308));
}

type BuiltPages = {
  readonly portalFolder: string;
  readonly docsFolder: string;
};

/**
 * Serves the files of the portal and of the documentation, which are the same for everybody, and the pages that the server writes
 * itself. `reference` writes the API reference. It needs the permission to read, so a caller without a session gets the sign-in.
 */
export function servePages(
  app: FastifyInstance,
  { portalFolder, docsFolder }: BuiltPages,
  access: Pick<Access, 'who'>,
  reference: () => string,
): void {
  const { index, assets } = readPortal(portalFolder);
  for (const file of assets) {
    app.get(`/assets/${file.name}`, OPEN, async (request, reply) => sendFile(file, request, reply));
  }
  for (const path of PORTAL_PAGES) app.get(path, OPEN, async (_request, reply) => sendPortal(index, reply));
  serveDocs(app, docsFolder);
  app.get('/docs/api', OPEN, async (request, reply) =>
    (await access.who(request))?.may('read', null) ? sendText(reply, reference()) : sendPortal(index, reply),
  );
  app.addHook('onSend', async (request, reply, payload) => {
    if (!request.is404 || reply.statusCode !== 404 || !wantsPage(request)) return payload;
    reply.header('content-type', HTML).header('content-security-policy', POLICY);
    return unknownPage();
  });
}

/** A person at a browser: programs take anything, or JSON. */
const wantsPage = ({ headers, method, url }: FastifyRequest): boolean =>
  (method === 'GET' || method === 'HEAD') && !url.startsWith('/v1/') && (headers.accept ?? '').includes('text/html');

/** A mail's own page, shown in a frame: no script, no forms, nothing fetched from elsewhere; styles are the mail's. */
export const MAIL_POLICY =
  "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'self'";

/**
 * Removes what no policy blocks and no mail program uses. Browsers open connections for frames, even blocked ones, and
 * for `<link rel=preconnect>`, which would tell the sender that the mail is being read; both become unknown elements.
 * Links open in a new window, because inside the frame they would show an error in place of the mail.
 */
export function tame(html: string): string {
  const tamed = html.replaceAll(/<(\/?)(link|iframe|frame)(?=[\s/>])/gi, '<$1x-$2');
  return tamed.replace(/^\s*(?:<!doctype[^>]*>)?/i, '$&<base target="_blank">');
}

/** The HTML body of a kept message as its reader would see it. */
export function mailRoute(app: FastifyInstance, inbox: Inbox): void {
  const config = { permission: 'bodies', audit: 'inbox.read', across: true } as const;
  app.get<{ Params: { id: string } }>('/inbox/messages/:id/html', { config }, async (request, reply) => {
    const kept = await inbox.get(request.params.id);
    const mine = kept && visibleScopeOf(request).sees(kept.workspace) ? kept.message : null;
    const html = mine?.channel === 'email' ? mine.html : null;
    if (!kept || html === null) throw notFound('message with an HTML body of this id');
    audited(request, { workspace: kept.workspace });
    return reply
      .header('content-type', 'text/html; charset=utf-8')
      .header('content-security-policy', MAIL_POLICY)
      .send(tame(html));
  });
}
