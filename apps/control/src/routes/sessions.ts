import { ownerLinkBody, sessionBody } from '@carillon/contracts';
import { formatInstant } from '@carillon/kernel';
import { z } from 'zod';
import type { Access } from '../access/access.ts';
import { noBody, type ApiServer } from './app.ts';

/** Signing in, signing out, and links that sign in. */
export function sessionRoutes(app: ApiServer, access: Access): void {
  const word = z.strictObject({ word: z.string().min(1).max(200) });
  app.post(
    '/v1/session',
    {
      config: { permission: 'anybody', audit: 'session.open', problems: ['unauthorized', 'rate_limited'] },
      schema: {
        operationId: 'openSession',
        tags: ['Sessions'],
        summary: 'Opens a session for the word of a sign-in link, or for the owner token',
        body: word,
        response: { 200: sessionBody },
      },
    },
    async (request, reply) =>
      reply.header('set-cookie', access.openSession(request.body.word, request)).send({ ok: true }),
  );

  app.delete(
    '/v1/session',
    {
      config: { permission: 'read', audit: 'session.close' },
      schema: {
        operationId: 'closeSession',
        tags: ['Sessions'],
        summary: 'Signs this browser out',
        response: { 200: sessionBody },
      },
    },
    async (request, reply) => reply.header('set-cookie', access.closeSession(request)).send({ ok: true }),
  );

  app.post(
    '/v1/owner-links',
    {
      config: { permission: 'people', audit: 'owner_link.create' },
      schema: {
        operationId: 'createOwnerLink',
        tags: ['Sessions'],
        summary: 'Makes a link that signs in as owner, once and within 15 minutes; the one before it ends',
        body: noBody,
        response: { 201: ownerLinkBody },
      },
    },
    async (_request, reply) => {
      const { word: made, endsAt } = access.makeLink();
      return reply.code(201).send({ word: made, ends_at: formatInstant(endsAt) });
    },
  );
}
