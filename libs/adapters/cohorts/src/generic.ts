import { MAX_COHORT_PAGES } from '@carillon/domain/cohorts';
import { CarillonError, err, ok, parseInstant, type Json } from '@carillon/kernel';
import { z } from 'zod';
import { cohortName, type CohortReading, count, identifier, list, readShape, usersOf } from './reading.ts';

const time = z.string().transform((text, context) => {
  const at = parseInstant(text);
  if (at !== undefined) return at;
  context.issues.push({ code: 'custom', message: 'an RFC 3339 time such as "2026-01-31T12:00:00Z"', input: text });
  return z.NEVER;
});

/** Our own form, for whoever writes the sender. */
const body = z.strictObject(
  {
    cohort: identifier,
    name: cohortName.exactOptional(),
    action: z.enum(['add', 'remove', 'replace']),
    user_ids: list,
    page: count(1, MAX_COHORT_PAGES).exactOptional(),
    pages: count(1, MAX_COHORT_PAGES).exactOptional(),
    session: identifier.exactOptional(),
    time: time.exactOptional(),
  },
  {
    error: (issue) =>
      issue.code === 'unrecognized_keys'
        ? `cohort, action, user_ids, and name, page, pages, session, time where wanted; not ${issue.keys.join(', ')}`
        : undefined,
  },
);

const refuse = (detail: string, pointer: string) => err(new CarillonError('invalid_request', detail, { pointer }));

export function readGeneric(json: Json): CohortReading {
  const read = readShape(body, json);
  if (!read.ok) return read;
  const { cohort, name, action, user_ids: ids, page = 1, pages = 1, session } = read.value;
  if (action !== 'replace' && (read.value.page !== undefined || read.value.pages !== undefined)) {
    return refuse(
      'Only a replace has pages: an add or a remove is whole in itself. Leave page and pages out.',
      '/page',
    );
  }
  if (pages > 1 && session === undefined) {
    return refuse('A replace of several pages needs a session: one text that all of its pages carry.', '/session');
  }
  if (page > pages) return refuse(`There is no page ${page} of ${pages}: pages are counted from 1.`, '/page');
  const wrong = ids.findIndex((id) => typeof id !== 'string' && typeof id !== 'number' && typeof id !== 'bigint');
  if (wrong >= 0) return refuse('A user id is a text or a number.', `/user_ids/${wrong}`);
  const users = usersOf(
    ids.map((id) => ({ id })),
    'id',
  );
  if (!users.ok) return err(users.error);
  return ok([
    {
      cohort,
      name: name ?? null,
      action,
      session: session ?? null,
      page: action === 'replace' ? { number: page, of: pages } : null,
      time: read.value.time ?? null,
      ...users.value,
    },
  ]);
}
