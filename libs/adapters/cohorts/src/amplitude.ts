import { err, ok, type Json } from '@carillon/kernel';
import { z } from 'zod';
import { cohortName, type CohortReading, identifier, list, readShape, usersOf } from './reading.ts';

/** Amplitude’s cohort webhook with its default payload. */
const body = z.object({
  cohort_id: identifier,
  cohort_name: cohortName.nullish(),
  in_cohort: z.boolean(),
  /** Seconds since 1970, as text. */
  computed_time: z.union([z.string().regex(/^\d{1,12}$/), z.int().nonnegative()], { error: 'seconds since 1970' }),
  message_id: identifier,
  users: list,
});

/** Messages with one computed time make up one change. The age of a message is that of its computation, however late it comes. */
export function readAmplitude(json: Json, userId = 'user_id'): CohortReading {
  const read = readShape(body, json);
  if (!read.ok) return read;
  const users = usersOf(read.value.users, userId);
  if (!users.ok) return err(users.error);
  const { cohort_id: cohort, cohort_name: name, in_cohort: inside, computed_time: computed } = read.value;
  return ok([
    {
      cohort,
      name: name ?? null,
      action: inside ? 'add' : 'remove',
      session: String(computed),
      page: null,
      time: Number(computed) * 1000,
      ...users.value,
    },
  ]);
}
