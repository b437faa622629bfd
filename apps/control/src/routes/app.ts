import { CarillonError, parseSince, SINCE_WORDS, type Instant } from '@carillon/kernel';
import type { FastifyInstance, FastifyBaseLogger, RawServerDefault } from 'fastify';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { EVERY_WORKSPACE } from '../access/sight.ts';
import { insteadOf } from '../names.ts';

/** The server as routes see it: bodies and answers are typed and checked by their zod schemas. */
export type ApiServer = FastifyInstance<
  RawServerDefault,
  IncomingMessage,
  ServerResponse,
  FastifyBaseLogger,
  ZodTypeProvider
>;

const workspace = z.string().max(100);
export const inWorkspace = z.object({ workspace });
export const withId = z.object({ workspace, id: z.string().max(200) });
export const withName = z.object({ workspace, name: z.string().max(200) });

/** The same of routes that look through all workspaces: `across`. */
const anyWorkspace = workspace.describe(`A workspace, or \`${EVERY_WORKSPACE}\`: all that you may see`);
export const acrossWorkspaces = z.object({ workspace: anyWorkspace });
export const withIdAcross = z.object({ workspace: anyWorkspace, id: z.string().max(200) });
export const withNameAcross = z.object({ workspace: anyWorkspace, name: z.string().max(200) });

/** Of an action that takes nothing: a client that sends something more means something by it, and is told. */
export const noBody = z.strictObject({}).nullish();

const PAGE_SIZE = 'takes a whole number from 1 to 500';
export const pageSize = z.coerce.number(PAGE_SIZE).int(PAGE_SIZE).min(1, PAGE_SIZE).max(500, PAGE_SIZE);

/** One of some words; any other is refused with the nearest. */
export const oneOfWords = <const Words extends readonly [string, ...string[]]>(what: string, words: Words) =>
  z.enum(words, { error: ({ input }) => `there is no ${what} ${String(input)}; ${insteadOf(String(input), words)}` });

/** From when on. */
export const sinceText = z.string().max(40).optional().describe(SINCE_WORDS);

/** Throws `invalid_request` for a text that says no time. */
export function readSince(text: string | undefined, now: Instant): Instant | undefined {
  if (text === undefined) return undefined;
  const since = parseSince(text, now);
  if (since !== undefined) return since;
  throw new CarillonError('invalid_request', `since: expected ${SINCE_WORDS}; found ${text}`, { pointer: '/since' });
}

/** Paging that every collection takes. */
export const paging = {
  limit: pageSize.default(50),
  cursor: z.string().max(500).optional(),
};

export const notFound = (what: string, hint = ''): CarillonError =>
  new CarillonError('not_found', hint === '' ? `there is no ${what}` : `there is no ${what}; ${hint}`);
