import { identifierOf, MAX_COHORT_USERS, type CohortChange } from '@carillon/domain/cohorts';
import {
  CarillonError,
  isJsonObject,
  ok,
  parseInstant,
  type Duration,
  type Instant,
  type Json,
  type JsonObject,
} from '@carillon/kernel';
import { z } from 'zod';
import { readShape, tooMany, userIdAt, type CohortReading } from './reading.ts';

/** One call of Segment, or a batch of calls. */
const body = z.union([z.array(z.record(z.string(), z.custom<Json>())), z.record(z.string(), z.custom<Json>())], {
  error: 'a track or identify call, or a list of these',
});

type Word = {
  readonly cohort: string;
  readonly inside: boolean;
  readonly user: string | null;
  readonly time: Instant | null;
};

/**
 * Segment’s audiences and journeys: track and identify calls, single or as a batch. Calls about anything else are
 * passed over, since one destination may get both. What is said of one user stays in its order.
 */
export function readSegment(json: Json, userId = 'userId'): CohortReading {
  const read = readShape(body, json);
  if (!read.ok) return read;
  const calls = Array.isArray(read.value) ? read.value : [read.value];
  if (calls.length > MAX_COHORT_USERS) return tooMany();
  const words = calls.map((call) => wordOf(call, userId)).filter((word) => word !== null);
  const changes: CohortChange[] = [];
  for (const said of Map.groupBy(words, ({ cohort }) => cohort).values()) changes.push(...changesOf(said));
  return ok(changes);
}

/** A signed call is of no use to anybody who comes later with it. */
const OLDEST: Duration = 86_400_000;
/** Beyond what a clock may be wrong by: the time of a call decides which of two is the newer one, and this would be so for ever. */
const MAX_AHEAD: Duration = 86_400_000;
/** When a call was made, and when it was handed on. */
const TIMES = ['timestamp', 'sentAt', 'receivedAt'] as const;

/**
 * Returns what is wrong with the times of a correctly signed message, because it may be a replay. A call without a time
 * is accepted. A message is as old as its newest time.
 */
function segmentTimeFault(json: Json, now: Instant): CarillonError | null {
  for (const [at, call] of callsIn(json).entries()) {
    const times = TIMES.map((name) => timeAt(call, name)).filter((time) => time !== null);
    const pointer = Array.isArray(json) ? `/${at}/timestamp` : '/timestamp';
    const time = timeAt(call, 'timestamp');
    if (time !== null && time > now + MAX_AHEAD) {
      return new CarillonError(
        'invalid_request',
        'The time of the call is more than a day ahead. Correct the clock of the sender.',
        {
          pointer,
        },
      );
    }
    if (times.length > 0 && Math.max(...times) < now - OLDEST) {
      return new CarillonError(
        'invalid_request',
        'The call is older than 24 hours, so its signature is no longer accepted. Send a new call.',
        { pointer },
      );
    }
  }
  return null;
}

const NO_BATCHES =
  'Segment signs the first call of a list alone. Switch batching off in the destination, or set batches: true in the integration.';

/** Checks what Segment's signature does not cover: further calls after the signed call, and the age of the call. */
export function segmentCallFault(json: Json, batches: boolean, now: Instant): CarillonError | null {
  if (Array.isArray(json) && !batches) return new CarillonError('invalid_request', NO_BATCHES);
  return segmentTimeFault(json, now);
}

/** Calls that are about no audience, and are passed over. */
export const segmentPassedOver = (json: Json): number =>
  callsIn(json).filter((call) => wordOf(call, 'userId') === null).length;

function callsIn(json: Json): readonly JsonObject[] {
  const list: readonly Json[] = Array.isArray(json) ? json : [json];
  return list.filter((call) => isJsonObject(call));
}

function timeAt(call: JsonObject, name: string): Instant | null {
  const text = Object.hasOwn(call, name) ? call[name] : undefined;
  return typeof text === 'string' ? (parseInstant(text) ?? null) : null;
}

function wordOf(call: JsonObject, userId: string): Word | null {
  const said = call['type'] === 'identify' ? call['traits'] : call['properties'];
  const personas = objectAt(objectAt(call, 'context'), 'personas');
  const computed = personas['computation_class'];
  if (!isJsonObject(said) || (computed !== undefined && computed !== 'audience' && computed !== 'journey')) return null;
  const cohort = identifierOf(said['audience_key'] ?? personas['computation_key']);
  if (cohort === null) return null;
  const inside = Object.hasOwn(said, cohort) ? said[cohort] : INSIDE.get(call['event']);
  if (typeof inside !== 'boolean') return null;
  return { cohort, inside, user: userIdAt(call, userId), time: timeAt(call, 'timestamp') };
}

/** The names of events until somebody changes them. */
const INSIDE: ReadonlyMap<unknown, boolean> = new Map([
  ['Audience Entered', true],
  ['Audience Exited', false],
]);

const NOTHING: JsonObject = {};
const objectAt = (holder: JsonObject, name: string): JsonObject => {
  const value = Object.hasOwn(holder, name) ? holder[name] : undefined;
  return isJsonObject(value) ? value : NOTHING;
};

/** Runs in which nobody goes in and out; of each run those who are in, and those who are out. */
function changesOf(words: readonly Word[]): CohortChange[] {
  const runs: Map<string, Word>[] = [];
  for (const word of words) {
    if (word.user === null) continue;
    const last = runs.at(-1);
    const turned = last?.get(word.user)?.inside === !word.inside;
    if (!last || turned) runs.push(new Map([[word.user, word]]));
    else last.set(word.user, word);
  }
  const skipped = words.filter(({ user }) => user === null).length;
  const changes = runs.flatMap((run) =>
    [true, false].flatMap((inside) => {
      const some = [...run].filter(([, word]) => word.inside === inside);
      return some.length === 0 ? [] : [changeOf(some, inside)];
    }),
  );
  const [first = words[0] && changeOf([], words[0].inside, words[0].cohort), ...rest] = changes;
  return first ? [{ ...first, skipped }, ...rest] : [];
}

function changeOf(
  some: readonly (readonly [string, Word])[],
  inside: boolean,
  cohort = some[0]?.[1].cohort ?? '',
): CohortChange {
  const times = some.map(([, { time }]) => time);
  const timed = times.every((time) => time !== null);
  return {
    cohort,
    name: null,
    action: inside ? 'add' : 'remove',
    session: null,
    page: null,
    userIds: some.map(([user]) => user),
    time: timed && times.length > 0 ? times : null,
    skipped: 0,
  };
}
