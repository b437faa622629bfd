import { err, ok, type CarillonError, type Json, type Result } from '@carillon/kernel';
import { z } from 'zod';
import { type CohortUsers, list, readShape, usersOf } from './reading.ts';

/** One page of `GET /api/projects/:project_id/cohorts/:id/persons`. */
const body = z.object({ results: list, next: z.string().max(4096).nullish() });

export type PostHogPage = CohortUsers & {
  /** Where the next page begins; null: this was the last. Of the address given only the query counts. */
  readonly next: string | null;
};

/** A person has several distinct ids; without a field of the person that names the user, the first one is taken. */
export function readPostHogPage(json: Json, userId = 'distinct_ids'): Result<PostHogPage, CarillonError> {
  const read = readShape(body, json);
  if (!read.ok) return read;
  const users = usersOf(read.value.results, userId);
  if (!users.ok) return err(users.error);
  const { next } = read.value;
  if (next === null || next === undefined || next === '') return ok({ ...users.value, next: null });
  const query = next.indexOf('?');
  return ok({ ...users.value, next: query < 0 ? '' : next.slice(query + 1) });
}
