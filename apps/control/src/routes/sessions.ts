import { sessionBody } from '@carillon/contracts';
import { z } from 'zod';
import type { Access } from '../access/access.ts';
import type { ApiServer } from './app.ts';

/** Opens a session for the word behind `/welcome#…`, or for the owner token. */
export function sessionRoutes(app: ApiServer, access: Access): void {
  const word = z.strictObject({ word: z.string().min(1).max(200) });
  app.post(
    '/v1/session',
    {
      config: { permission: 'anybody', problems: ['unauthorized', 'rate_limited'] },
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
}
