import { CarillonError, ERRORS, type ErrorCode } from '@carillon/kernel';
import { problemOf, problemSchema } from '@carillon/contracts';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';

const codes = Object.keys(ERRORS) as ErrorCode[];

describe('a problem', () => {
  test('matches its schema, whatever the error', () => {
    fc.assert(
      fc.property(
        fc.constantFrom(...codes),
        fc.string(),
        fc.record(
          { pointer: fc.string(), line: fc.integer({ min: 1 }), limit: fc.string(), retryAfter: fc.nat() },
          { requiredKeys: [] },
        ),
        (code, detail, facts) => {
          const answer = problemOf(new CarillonError(code, detail, facts), 'req_1');
          expect(problemSchema.parse(answer.body)).toEqual(answer.body);
          expect(answer.status).toBe(ERRORS[code].status);
          expect(answer.body.type).toBe(`/docs/errors#${code}`);
        },
      ),
    );
  });

  test('tells a client without a credential how to authenticate', () => {
    const answer = problemOf(new CarillonError('unauthorized', 'send an API key'), 'req_1');
    expect(answer.headers['www-authenticate']).toBe('Bearer realm="carillon"');
  });

  test('has no retry time earlier than the error says', () => {
    const answer = problemOf(new CarillonError('rate_limited', 'slow down', { retryAfter: 1200 }), 'req_1');
    expect(answer.headers['retry-after']).toBe('2');
  });

  test.each(['rate_limited', 'overloaded', 'log_unavailable', 'configuration_stale', 'stopping'] as const)(
    'of code %s always has a retry time',
    (code) => {
      expect(problemOf(new CarillonError(code, ''), 'req_1').headers['retry-after']).toBe('1');
    },
  );

  test('that is permanent has no retry time', () => {
    expect(problemOf(new CarillonError('not_found', ''), 'req_1').headers['retry-after']).toBeUndefined();
  });
});
