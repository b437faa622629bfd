import { hash } from 'node:crypto';
import { MAX_JOB_ITEMS } from '@carillon/domain/jobs';
import type { MissingLookup, MissingMessage } from '@carillon/domain/runs';
import { CarillonError, formatDuration, type Duration, type EventId, type Instant } from '@carillon/kernel';

/** Missing messages that a search of a run found. */
export type FoundMissing = {
  /** In any order. */
  readonly messages: readonly MissingMessage[];
  /** Empty unless `needs_lookup` was named. */
  readonly lookups: readonly MissingLookup[];
  /** Events of missing messages and lookups that are too old. */
  readonly tooOld: ReadonlySet<EventId>;
};

/** The messages that a job may send, with their counts. It holds no names and no addresses. */
export type Missing = {
  /** Oldest event first. Messages of an event stand together. */
  readonly messages: readonly MissingMessage[];
  /** Oldest event first. */
  readonly lookups: readonly MissingLookup[];
  /** Items of the job: messages and lookups. A person confirms this number. */
  readonly count: number;
  /** People who get a message. People whom only a partner knows are not among them. */
  readonly people: number;
  /** Messages by `notification.rule`, sorted by name. */
  readonly byRule: readonly { readonly rule: string; readonly messages: number; readonly people: number }[];
  /** Events that need a lookup, and the user ids that the partner is asked about. */
  readonly needsLookup: { readonly events: number; readonly userIds: number };
  /** Append times of the first and the last event. Null if nothing is missing. */
  readonly oldest: Instant | null;
  readonly newest: Instant | null;
  /** Number of events that are left out because of their age. */
  readonly tooOld: number;
  /** SHA-256 over the sorted slots and lookups, as 64 hexadecimal digits. */
  readonly checksum: string;
};

type Placed = Pick<MissingLookup, 'at' | 'position' | 'eventId'>;

const byEvent = (a: Placed, b: Placed): number => a.at - b.at || compareText(a.position, b.position);
const compareText = (a: string, b: string): number => (a === b ? 0 : a < b ? -1 : 1);

/** Sorts and counts what was found. The result does not depend on the order of `found`. */
export function countMissing({ messages: unsorted, lookups: unsortedLookups, tooOld }: FoundMissing): Missing {
  const messages = unsorted.toSorted((a, b) => byEvent(a.row, b.row) || compareText(a.slot, b.slot));
  const lookups = unsortedLookups.toSorted((a, b) => byEvent(a, b) || compareText(a.rule, b.rule));
  const times = [...messages.map(({ row }) => row.at), ...lookups.map(({ at }) => at)].toSorted((a, b) => a - b);
  const rules = Map.groupBy(messages, ({ row }) => row.rule);
  return {
    messages,
    lookups,
    count: messages.length + lookups.length,
    people: peopleOf(messages),
    byRule: [...rules]
      .toSorted(([a], [b]) => compareText(a, b))
      .map(([rule, sent]) => ({ rule, messages: sent.length, people: peopleOf(sent) })),
    needsLookup: {
      events: new Set(lookups.map(({ eventId }) => eventId)).size,
      userIds: lookups.reduce((sum, { userIds }) => sum + userIds, 0),
    },
    oldest: times[0] ?? null,
    newest: times.at(-1) ?? null,
    tooOld: tooOld.size,
    checksum: checksumOf({ messages, lookups }),
  };
}

const peopleOf = (messages: readonly MissingMessage[]): number => new Set(messages.map(({ row }) => row.person)).size;

function checksumOf({ messages, lookups }: Pick<FoundMissing, 'messages' | 'lookups'>): string {
  const lines = [
    ...messages.map(({ slot }) => JSON.stringify(['message', slot])),
    ...lookups.map(({ eventId, rule }) => JSON.stringify(['lookup', eventId, rule])),
  ];
  return hash('sha256', lines.toSorted().join('\n'), 'hex');
}

/** The missing messages that a person saw before confirming. */
export type Confirmed = Pick<Missing, 'count' | 'checksum'>;

/** Throws CarillonError `conflict` if the missing messages are not those that a person confirmed. */
export function refuseChanged({ count, checksum, lookups }: Missing, confirmed: Confirmed): void {
  if (count === confirmed.count && checksum === confirmed.checksum) return;
  const things = lookups.length === 0 ? 'messages' : 'messages and questions to a partner';
  const change =
    count === confirmed.count
      ? `as many ${things} are missing as before (${count}), but others`
      : `${count} ${things} are missing now, and ${confirmed.count} were confirmed`;
  throw new CarillonError('conflict', `${change}: look at the missing messages again, and confirm what you see then`);
}

/** Throws CarillonError `wrong_state` for more items than a job takes. Of each kind, the newest must be there. */
export function refuseTooMany({ messages, lookups }: Pick<FoundMissing, 'messages' | 'lookups'>, now: Instant): void {
  const newestFirst = [...messages.map(({ row }) => row.at), ...lookups.map(({ at }) => at)].toSorted((a, b) => b - a);
  const tooMany = newestFirst[MAX_JOB_ITEMS];
  if (tooMany !== undefined) throw tooManyMissing(tooMany, now);
}

/**
 * Returns the refusal of more messages than a job takes. `at` is the append time of the newest event that is too many, so the
 * maximum age that it names leaves the event out.
 */
export function tooManyMissing(at: Instant, now: Instant): CarillonError {
  const age = formatDuration(roundDown(now - at - 1));
  return new CarillonError(
    'wrong_state',
    `more than ${MAX_JOB_ITEMS} messages are missing, and a job sends no more: send the newest first with a maximum age of ${age}, then look again. If that leaves no message, name fewer rules`,
  );
}

const roundDown = (age: Duration): Duration => {
  const unit = [3_600_000, 60_000].find((each) => age >= each) ?? 1_000;
  return Math.max(age - (age % unit), 1_000);
};
