import { CarillonError } from '@carillon/kernel';
import type { FastifyInstance, FastifyBaseLogger, RawServerDefault } from 'fastify';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';

/** The server as routes see it: bodies and answers are typed and checked by their zod schemas. */
export type ApiServer = FastifyInstance<
  RawServerDefault,
  IncomingMessage,
  ServerResponse,
  FastifyBaseLogger,
  ZodTypeProvider
>;

export const inWorkspace = z.object({ workspace: z.string().max(100) });
export const withId = z.object({ workspace: z.string().max(100), id: z.string().max(200) });
export const withName = z.object({ workspace: z.string().max(100), name: z.string().max(200) });

/** Of an action that takes nothing: a client that sends something more means something by it, and is told. */
export const noBody = z.strictObject({}).nullish();

/** Paging that every collection takes. */
export const paging = {
  limit: z.coerce.number().int().min(1).max(500).default(50),
  cursor: z.string().max(500).optional(),
};

export const notFound = (what: string, hint = ''): CarillonError =>
  new CarillonError('not_found', hint === '' ? `there is no ${what}` : `there is no ${what}; ${hint}`);
