import { STATUS_CODES } from 'node:http';
import { problemType } from '@carillon/contracts';
import { ERRORS, type ErrorCode } from '@carillon/kernel';

const CODES = Object.keys(ERRORS) as ErrorCode[];
const ofStatus = (status: number): readonly ErrorCode[] => CODES.filter((code) => ERRORS[code].status === status);

/** `NotFoundProblem` of 404: programs that are made from the description have a type for each. */
const nameOf = (status: number): string => `${(STATUS_CODES[status] ?? '').replaceAll(/\W/g, '')}Problem`;

/** Returns the schema of problems with a status, with all codes that the table of errors has for it. */
function schemaOf(status: number): object {
  const codes = ofStatus(status);
  const [code = 'internal'] = codes;
  return {
    allOf: [
      { $ref: '#/components/schemas/Problem' },
      {
        type: 'object',
        properties: {
          status: { const: status },
          code: { type: 'string', enum: codes, description: 'The last part of `type`, for programs.' },
        },
      },
    ],
    examples: [
      {
        type: problemType(code),
        title: ERRORS[code].title,
        status,
        detail: 'What happened this time, and what to do.',
        code,
        request_id: 'req_5Q8W2ZC4M1V7X9K3B6N0HTR2PD',
      },
    ],
  };
}

/** The schemas of all problems, by name. */
export const PROBLEM_SCHEMAS: Readonly<Record<string, object>> = Object.fromEntries(
  [...new Set(CODES.map((code) => ERRORS[code].status))].map((status) => [nameOf(status), schemaOf(status)]),
);

const text = (description: string): object => ({ description, schema: { type: 'string' } });
const RETRY_AFTER = { 'Retry-After': text('Whole seconds after which to retry') };
const HEADERS: Readonly<Record<number, object>> = {
  401: { 'WWW-Authenticate': text('How to authenticate') },
  429: RETRY_AFTER,
  503: RETRY_AFTER,
};

/** The answers of an operation that is refused with one of these codes, by status. */
export function refusals(codes: readonly ErrorCode[]): Readonly<Record<string, object>> {
  const statuses = [...new Set(codes.map((code) => ERRORS[code].status))];
  return Object.fromEntries(
    statuses.map((status) => {
      const own = codes.filter((code) => ERRORS[code].status === status);
      const schema = { $ref: `#/components/schemas/${nameOf(status)}` };
      return [
        status,
        {
          description: own.map((code) => `\`${code}\`: ${ERRORS[code].title}`).join('; '),
          ...(HEADERS[status] && { headers: HEADERS[status] }),
          content: { 'application/problem+json': { schema } },
        },
      ];
    }),
  );
}
