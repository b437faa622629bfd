import { identifierOf, MAX_COHORT_USERS, MAX_COHORT_VALUES, type CohortChange } from '@carillon/domain/cohorts';
import { countJsonValues, JSON_VALUE_BYTES, pointerTo, readJson } from '@carillon/domain/events';
import { CarillonError, err, isJsonObject, ok, type Json, type Result } from '@carillon/kernel';
import { z } from 'zod';

export type CohortReading = Result<readonly CohortChange[], CarillonError>;

const refuse = (detail: string, pointer?: string): Result<never, CarillonError> =>
  err(new CarillonError('invalid_request', detail, pointer === undefined ? {} : { pointer }));

/** An id that platforms send as text or as a number, of 64 bits too. */
export const identifier = z.unknown().transform((value, context) => {
  const id = identifierOf(value);
  if (id !== null) return id;
  context.issues.push({ code: 'custom', message: 'a text of 1 to 255 characters, or a number', input: value });
  return z.NEVER;
});

/** A list of whatever: a shape would be asked about each of its 10,000 items, and all of them hold. */
export const list = z.custom<readonly Json[]>((value) => Array.isArray(value), { error: 'array' });

/** A name for people, as far as it can be shown. */
export const cohortName = z.string().transform((name) => name.toWellFormed().slice(0, 200).toWellFormed());

/** A count that some send as text. */
export const count = (least: number, most: number) =>
  z
    .union(
      [
        z.int(),
        z
          .string()
          .regex(/^\d{1,9}$/)
          .transform(Number),
      ],
      { error: 'a whole number' },
    )
    .refine((number) => number >= least && number <= most, { error: `a number from ${least} to ${most}` });

const LIMITS = { depth: 32, keys: MAX_COHORT_VALUES };

/**
 * The JSON value in the bytes; integers beyond doubles stay exact. `room` is asked for what the value will take in
 * memory; where there is none, `overloaded`.
 */
export function readCohortBody(
  bytes: Uint8Array,
  room: (bytes: number) => boolean = () => true,
): Result<Json, CarillonError> {
  // Before it is read: megabytes of tiny values would hold up everything else in the process, and fill its memory.
  const values = countJsonValues(bytes);
  if (values > MAX_COHORT_VALUES) return tooLarge(`${MAX_COHORT_VALUES} fields and items of lists`);
  if (!room(values * JSON_VALUE_BYTES)) {
    return err(new CarillonError('overloaded', 'The server is reading too many requests now. Send this one again.'));
  }
  const read = readJson(bytes, LIMITS);
  if (read.ok) return read;
  const { code, detail, ...facts } = read.error;
  return err(new CarillonError(code, detail, facts));
}

/** The value in this shape, or a refusal that names the field. What the platform sends besides is passed over. */
export function readShape<Shape extends z.ZodType>(shape: Shape, body: Json): Result<z.output<Shape>, CarillonError> {
  const read = shape.safeParse(body);
  if (read.success) return ok(read.data);
  const [issue] = read.error.issues;
  const path = (issue?.path ?? []) as (string | number)[];
  const where = path.length === 0 ? 'The body' : path.join('.');
  return refuse(`${where} is not what this platform sends: expected ${expectedOf(issue)}.`, pointerTo(path));
}

function expectedOf(issue: z.core.$ZodIssue | undefined): string {
  if (issue?.code === 'invalid_type') return issue.expected;
  if (issue?.code === 'invalid_value') return issue.values.map(String).join(' or ');
  return issue?.message ?? 'something else';
}

export type CohortUsers = { readonly userIds: readonly string[]; readonly skipped: number };

/**
 * The user ids of members, each once, taken from the field that the integration names. A member without one is counted:
 * refusing the message would let the platform pause, and whether a whole export named nobody is seen where its pages meet.
 */
export function usersOf(members: readonly Json[], field: string): Result<CohortUsers, CarillonError> {
  if (members.length > MAX_COHORT_USERS) return tooMany();
  const steps = field.split('.');
  const found = new Set<string>();
  let skipped = 0;
  for (const member of members) {
    const id = idAt(member, steps);
    if (id === null) skipped += 1;
    else found.add(id);
  }
  return ok({ userIds: [...found], skipped });
}

export const tooMany = (): Result<never, CarillonError> => tooLarge(`${MAX_COHORT_USERS} users`);

function tooLarge(limit: string): Result<never, CarillonError> {
  return err(new CarillonError('body_too_large', `Send at most ${limit} in one request.`, { limit }));
}

/** The id at a path of fields such as `properties.email`; of a list the first. */
export const userIdAt = (member: Json, field: string): string | null => idAt(member, field.split('.'));

function idAt(member: Json, steps: readonly string[]): string | null {
  let value: Json | undefined = member;
  for (const step of steps) {
    value = isJsonObject(value) && Object.hasOwn(value, step) ? value[step] : undefined;
  }
  return identifierOf(Array.isArray(value) ? value[0] : value);
}
