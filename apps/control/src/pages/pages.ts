import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import type { Inbox } from '@carillon/ports';
import type { Access } from '../access/access.ts';
import { sightOf } from '../access/sight.ts';
import { unknownPage } from './page-frame.ts';
import { notFound } from '../routes/app.ts';

/** The portal's files that a browser may ask for: a closed list, so no path of a request ever reaches the disk. */
const ASSETS: Readonly<Record<string, string>> = {
  '/assets/style.css': 'text/css; charset=utf-8',
  '/assets/detail.css': 'text/css; charset=utf-8',
  '/assets/reference.css': 'text/css; charset=utf-8',
  '/assets/portal.js': 'text/javascript; charset=utf-8',
  '/assets/list.js': 'text/javascript; charset=utf-8',
  '/assets/story.js': 'text/javascript; charset=utf-8',
  '/assets/contents.js': 'text/javascript; charset=utf-8',
  '/assets/inbox.js': 'text/javascript; charset=utf-8',
  '/assets/deliveries.js': 'text/javascript; charset=utf-8',
  '/assets/welcome.js': 'text/javascript; charset=utf-8',
  '/assets/icon.svg': 'image/svg+xml',
};
const PAGES: Readonly<Record<string, string>> = {
  '/': 'deliveries.html',
  '/deliveries': 'deliveries.html',
  '/inbox': 'inbox.html',
};

/**
 * No script but our own, no connection but to this server, and no way for text to become markup; mail bodies are shown
 * in frames without scripts, and their pictures and styles are the mail's own business.
 */
const POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; connect-src 'self'; frame-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'; require-trusted-types-for 'script'; trusted-types 'none'";

const HTML = 'text/html; charset=utf-8';

const sendText = (reply: FastifyReply, text: string | Uint8Array, type: string): FastifyReply =>
  reply.header('content-type', type).header('content-security-policy', POLICY).send(text);

const sendFile = async (reply: FastifyReply, folder: string, name: string, type: string): Promise<FastifyReply> =>
  sendText(reply, await readFile(join(folder, name)), type);

/** Their files hold nothing of a deployment: what the pages show they ask the management API for. */
const OPEN = { config: { permission: 'anybody' } } as const;

/**
 * Pages and their files; a page without a session becomes the sign-in page. `reference` writes the reference of the API, which is
 * for whoever may read.
 */
export function servePages(app: FastifyInstance, folder: string, access: Access, reference: () => string): void {
  for (const [path, type] of Object.entries(ASSETS)) {
    app.get(path, OPEN, async (_request, reply) => sendFile(reply, folder, path.slice('/assets/'.length), type));
  }
  for (const [path, file] of Object.entries(PAGES)) {
    app.get(path, OPEN, async (request, reply) =>
      sendFile(reply, folder, (await access.who(request)) ? file : 'welcome.html', HTML),
    );
  }
  app.get('/welcome', OPEN, async (_request, reply) => sendFile(reply, folder, 'welcome.html', HTML));
  app.get('/docs', OPEN, async (request, reply) =>
    (await access.who(request))?.may('read', null)
      ? sendText(reply, reference(), HTML)
      : sendFile(reply, folder, 'welcome.html', HTML),
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
 * What no policy forbids and mail programs do not know. For a frame, even one that it then refuses, a browser opens a
 * connection, and for `<link rel=preconnect>` too: the sender learns that somebody reads. Both become elements that mean
 * nothing. A link that is clicked would put an error in the place of the mail; as a window of its own it is just refused.
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
    const mine = kept && sightOf(request).sees(kept.workspace) ? kept.message : null;
    const html = mine?.channel === 'email' ? mine.html : null;
    if (html === null) throw notFound('message with an HTML body of this id');
    return reply
      .header('content-type', 'text/html; charset=utf-8')
      .header('content-security-policy', MAIL_POLICY)
      .send(tame(html));
  });
}
