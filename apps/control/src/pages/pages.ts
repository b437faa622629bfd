import { randomBytes } from 'node:crypto';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { pagePolicy, sendStaticFile, serveDocs } from '@carillon/runtime';
import type { Inbox } from '@carillon/ports';
import type { Access } from '../access/access.ts';
import { visibleScopeOf } from '../access/visible-scope.ts';
import { audited } from '../audit/facts.ts';
import { unbuiltPage, unknownPage } from './page-frame.ts';
import { readPortal } from './portal-files.ts';
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

const POLICY = pagePolicy();

const HTML = 'text/html; charset=utf-8';

export const sendText = (reply: FastifyReply, text: string): FastifyReply =>
  reply.header('content-type', HTML).header('content-security-policy', POLICY).send(text);

/** The files contain no data of a deployment. The pages get their data from the management API. */
const OPEN = { config: { permission: 'anybody' } } as const;

function sendPortal(index: string | null, reply: FastifyReply): FastifyReply {
  if (index === null) return sendText(reply.code(503), unbuiltPage());
  // The components of the portal write one style of their own.
  const nonce = randomBytes(16).toString('base64');
  return reply
    .header('content-type', HTML)
    .header('content-security-policy', pagePolicy(`'self' 'nonce-${nonce}'`))
    .send(index.replaceAll('CARILLON_NONCE', nonce));
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
    app.get(`/assets/${file.name}`, OPEN, async (request, reply) => sendStaticFile(file, request, reply));
  }
  for (const path of PORTAL_PAGES) app.get(path, OPEN, async (_request, reply) => sendPortal(index, reply));
  if (!serveDocs(app, docsFolder, { ...OPEN, hasPortal: true })) {
    app.get('/docs', OPEN, async (_request, reply) => sendText(reply.code(503), unbuiltPage()));
  }
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
 * Removes parts of a mail that a content policy cannot block and no mail program uses. Browsers open connections for
 * frames, even blocked ones, and for `<link rel=preconnect>`, which would tell the sender that the mail is being read;
 * both become unknown elements. Links open in a new window, because inside the frame they would show an error instead
 * of the mail.
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
