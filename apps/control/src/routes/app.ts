import { CarillonError, parseDuration, parseSince, SINCE_WORDS, type Instant } from '@carillon/kernel';
import type { FastifyInstance, FastifyBaseLogger, RawServerDefault } from 'fastify';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { ZodTypeProvider } from 'fastify-type-provider-zod';
import { z } from 'zod';
import { EVERY_WORKSPACE } from '../access/visible-scope.ts';
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

/** Parameters of routes that cover all workspaces (`across`). */
const anyWorkspace = workspace.describe(`A workspace, or \`${EVERY_WORKSPACE}\`: all that you may see`);
export const acrossWorkspaces = z.object({ workspace: anyWorkspace });
export const withIdAcross = z.object({ workspace: anyWorkspace, id: z.string().max(200) });
export const withNameAcross = z.object({ workspace: anyWorkspace, name: z.string().max(200) });

/** Body schema of an action without arguments. Other bodies are refused, because the client expected an effect. */
export const noBody = z.strictObject({}).nullish();

const PAGE_SIZE = 'takes a whole number from 1 to 500';
export const pageSize = z.coerce.number(PAGE_SIZE).int(PAGE_SIZE).min(1, PAGE_SIZE).max(500, PAGE_SIZE);

/** Schema of fixed words. The error for any other word suggests the most similar one. */
export const oneOfWords = <const Words extends readonly [string, ...string[]]>(what: string, words: Words) =>
  z.enum(words, { error: ({ input }) => `there is no ${what} ${String(input)}; ${insteadOf(String(input), words)}` });

/** Some of these words: the parameter several times, or once with commas. */
export const someOfWords = <const Words extends readonly [string, ...string[]]>(what: string, words: Words) =>
  z.array(oneOfWords(what, words)).min(1, `takes one ${what} or several`).max(50);

const timeText = z.string().max(40).optional();
/** A span of time, as every list that is in the order of time takes it. */
export const timeRange = {
  from: timeText.describe(`At or after: ${SINCE_WORDS}`),
  to: timeText.describe(`Before: ${SINCE_WORDS}`),
  last: timeText.describe('Instead of both: so long back from now, such as `24h`'),
};
type TimeTexts = { readonly [Name in keyof typeof timeRange]?: string | undefined };
export type TimeRange = { readonly since?: Instant; readonly before?: Instant };

const refusedTime = (name: string, detail: string): CarillonError =>
  new CarillonError('invalid_request', `${name}: ${detail}`, { pointer: `/${name}` });

/** Throws `invalid_request` for a text that says no time, and for a span that holds none. */
export function readRange({ from, to, last }: TimeTexts, now: Instant): TimeRange {
  if (last !== undefined) {
    const other = from === undefined ? 'to' : 'from';
    if (from !== undefined || to !== undefined)
      throw refusedTime('last', `already gives both ends of the time range: leave ${other} out`);
    const span = parseDuration(last);
    if (!span.ok) throw refusedTime('last', `expected a duration such as 30m, 24h or 7d; found ${last}`);
    return { since: now - span.value };
  }
  const timeOf = (name: 'from' | 'to', text: string): Instant => {
    const time = parseSince(text, now);
    if (time === undefined) throw refusedTime(name, `expected ${SINCE_WORDS}; found ${text}`);
    return time;
  };
  const range = {
    ...(from !== undefined && { since: timeOf('from', from) }),
    ...(to !== undefined && { before: timeOf('to', to) }),
  };
  if (range.since !== undefined && range.before !== undefined && range.before <= range.since) {
    throw refusedTime('to', 'must be later than `from`');
  }
  return range;
}

/** Paging parameters of every list. The creator of a cursor validates it. */
export const paging = {
  limit: pageSize.default(50),
  cursor: z.string().max(4000).optional().describe('The `next` of the page before, of the same list and filters'),
};

export const notFound = (what: string, hint = ''): CarillonError =>
  new CarillonError('not_found', hint === '' ? `there is no ${what}` : `there is no ${what}; ${hint}`);
