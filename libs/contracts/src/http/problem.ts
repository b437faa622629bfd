import { type CarillonError, type ErrorCode, ERRORS } from '@carillon/kernel';
import { z } from 'zod';

/** The body of every answer that is not a success (RFC 9457, `application/problem+json`). */
export const problemSchema = z
  .strictObject({
    type: z
      .string()
      .regex(/^\/docs\/errors#[a-z_]+$/)
      .describe('Page that explains the code, relative to the URL of the request. Programs read `code`.'),
    title: z.string().describe('The kind of problem in words; always the same text for one code.'),
    status: z.int().min(400).max(599).describe('The HTTP status, repeated for logs that keep only bodies.'),
    detail: z.string().describe('What happened this time and what to do.'),
    code: z.string().describe('Stable name of the kind of problem, for programs.'),
    request_id: z.string().describe('Name this when asking for help; logs carry it.'),
    pointer: z.string().optional().describe('RFC 6901 pointer to the place in the body.'),
    line: z.int().min(1).optional().describe('Line of the body, from 1.'),
    column: z.int().min(1).optional().describe('Column of the body, from 1.'),
    faults: z
      .array(
        z.strictObject({
          kind: z.string(),
          workspace: z.string(),
          name: z.string(),
          code: z.string().describe('What is wrong, as a stable name for programs'),
          facts: z.record(z.string(), z.string()).describe('Names and values that the words of the code need'),
          path: z.string().describe('Keys down to the value: `rules.paid.when`. Empty: the whole body'),
          line: z.int().nullable().describe('Within the text at the path; null: all of the value'),
          column: z.int().nullable(),
          message: z.string(),
          expected: z.string(),
          fix: z.string().describe('What to do now'),
        }),
      )
      .optional()
      .describe('Every mistake in bodies of resources.'),
    conflicts: z
      .array(
        z.strictObject({
          kind: z.string(),
          workspace: z.string(),
          name: z.string(),
          revision: z.string(),
          base: z.strictObject({ number: z.int().nullable(), body: z.record(z.string(), z.unknown()).nullable() }),
          theirs: z.strictObject({ number: z.int().nullable(), body: z.record(z.string(), z.unknown()).nullable() }),
          mine: z.strictObject({ body: z.record(z.string(), z.unknown()).nullable() }),
          fields: z.array(
            z.strictObject({
              path: z.string(),
              base: z.string().nullable(),
              theirs: z.string().nullable(),
              mine: z.string().nullable(),
            }),
          ),
        }),
      )
      .optional()
      .describe('Of drafts whose resource has changed: what they began from, what is there now, what they want.'),
    newer: z
      .strictObject({
        number: z.int().nullable().describe('Its number now; null: it is not there'),
        at: z.string().nullable(),
        by: z.strictObject({ kind: z.string(), id: z.string() }).nullable(),
      })
      .optional()
      .describe('For a lost race: the current version with its time and author.'),
    limit: z.string().optional().describe('The limit that was passed, with its unit.'),
  })
  .meta({ id: 'Problem' });
export type Problem = z.infer<typeof problemSchema>;

/** Page of the documentation with an anchor per code. Each server that answers with problems serves it. */
export const ERRORS_PAGE = '/docs/errors';
export const problemType = (code: ErrorCode): string => `${ERRORS_PAGE}#${code}`;

export type ProblemAnswer = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Problem;
};

/** Retry-After of temporary refusals for which none was computed. */
const DEFAULT_RETRY_AFTER_MS = 1000;

/** The HTTP answer for a failure. Pure: it adds nothing that the error does not say, so nothing secret can slip in here. */
export function problemOf(error: CarillonError, requestId: string): ProblemAnswer {
  const { status, title } = ERRORS[error.code];
  const { pointer, line, column, faults, conflicts, newer, limit } = error.facts;
  return {
    status,
    headers: {
      'content-type': 'application/problem+json',
      'cache-control': 'no-store',
      ...(status === 401 && { 'www-authenticate': challengeOf(error) }),
      ...retryAfterOf(error, status),
    },
    body: {
      type: problemType(error.code),
      title,
      status,
      detail: error.detail,
      code: error.code,
      request_id: requestId,
      ...(pointer !== undefined && { pointer }),
      ...(line !== undefined && { line }),
      ...(column !== undefined && { column }),
      ...(faults !== undefined && { faults: faults.map((fault) => ({ ...fault })) }),
      ...(conflicts !== undefined && { conflicts: structuredClone(conflicts) as Problem['conflicts'] }),
      ...(newer !== undefined && { newer: { ...newer, by: newer.by && { ...newer.by } } }),
      ...(limit !== undefined && { limit }),
    },
  };
}

/** Only whoever holds a token that was really signed is told more (RFC 6750); for all others every 401 is the same. */
function challengeOf({ facts: { tokenFault } }: CarillonError): string {
  const challenge = 'Bearer realm="carillon"';
  return tokenFault === undefined
    ? challenge
    : `${challenge}, error="invalid_token", error_description="${tokenFault}"`;
}

/** Whole seconds, rounded up: a client that obeys must not come too early. */
function retryAfterOf(error: CarillonError, status: number): Record<string, string> {
  const passing = status === 429 || status === 503;
  const span = error.facts.retryAfter ?? (passing ? DEFAULT_RETRY_AFTER_MS : null);
  return span === null ? {} : { 'retry-after': String(Math.max(1, Math.ceil(span / 1000))) };
}
