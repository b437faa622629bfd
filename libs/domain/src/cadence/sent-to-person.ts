import type { Duration, Instant } from '@carillon/kernel';
import type { Attempt, Delivery, DeliveryState } from '../deliveries/delivery.ts';
import { countedUntil, type SentEntry } from './limits.ts';
import type { LimitIndex } from './limit-settings.ts';

/**
 * Messages sent to a person of a workspace that limits may count: one document, written by compare-and-set. Each writer
 * adds and removes only the entry of its own token.
 */
export type SentToPerson = {
  readonly workspace: string;
  /** Person, as formatted by `personName`. */
  readonly person: string;
  /**
   * New with every write and never reused, so that a document created again after removal is not mistaken for the old
   * one.
   */
  readonly revision: string;
  readonly entries: readonly SentEntry[];
  /** Time after which no limit counts the document, so that it may be removed. */
  readonly keptUntil: Instant;
};

/** Inputs for removing entries that no limit counts any more. */
export type Pruning = {
  readonly index: LimitIndex;
  readonly zone: string;
  readonly now: Instant;
  readonly revision: string;
};

type Person = Pick<SentToPerson, 'workspace' | 'person'>;

/** Returns the document with these entries, without those that no limit counts any more. */
function written(
  { workspace, person }: Person,
  entries: readonly SentEntry[],
  { index, zone, now, revision }: Pruning,
): SentToPerson {
  const counted: SentEntry[] = [];
  let keptUntil = now;
  for (const entry of entries) {
    const until = countedUntil(index.of(entry.notificationId), entry, zone);
    if (until === null || until <= now) continue;
    counted.push(entry);
    keptUntil = Math.max(keptUntil, until);
  }
  return { workspace, person, revision, entries: newestOfEach(counted), keptUntil };
}

/**
 * Messages to several devices for one trigger count once, for as long as the newest of their entries. Only confirmed
 * entries are merged, because an open one may still be removed.
 */
function newestOfEach(entries: readonly SentEntry[]): readonly SentEntry[] {
  const newest = new Map<string, SentEntry>();
  const alike = ({ triggerId, notificationId, category, channel }: SentEntry): string =>
    JSON.stringify([triggerId, notificationId, category, channel]);
  for (const entry of entries) {
    if (entry.sure && entry.at > (newest.get(alike(entry))?.at ?? -Infinity)) newest.set(alike(entry), entry);
  }
  return entries.filter((entry) => !entry.sure || newest.get(alike(entry)) === entry);
}

/** Reserves room under the limits. Other entries of the same delivery stay, because each belongs to its own attempt. */
export const withEntry = (
  before: SentToPerson | null,
  person: Person,
  entry: SentEntry,
  pruning: Pruning,
): SentToPerson => written(person, [...(before?.entries ?? []), entry], pruning);

/** Releases the room of one token. Returns undefined if the token has no entry. */
export function withoutEntry(before: SentToPerson | null, token: string, revision: string): SentToPerson | undefined {
  if (!before?.entries.some((entry) => entry.token === token)) return undefined;
  return { ...before, revision, entries: before.entries.filter((entry) => entry.token !== token) };
}

/** Tokens of entries that proved to be sent (`sure`) or unsent (`gone`). */
export type FoundOut = { readonly sure: ReadonlySet<string>; readonly gone: ReadonlySet<string> };

/** Marks sent entries, so that each is checked once, and removes unsent ones. */
export const withFound = (before: SentToPerson, { sure, gone }: FoundOut, pruning: Pruning): SentToPerson =>
  written(
    before,
    before.entries
      .filter(({ token }) => !gone.has(token))
      .map((entry) => (sure.has(entry.token) ? { ...entry, sure: true } : entry)),
    pruning,
  );

/**
 * Merges two copies of a document by token; an entry counts as sent if either copy says so. Keeps the revision of the
 * other copy, because no reader here has seen it. Returns undefined if the other copy adds nothing.
 */
export function together(ours: SentToPerson | null, theirs: SentToPerson): SentToPerson | undefined {
  if (!ours) return theirs.entries.length === 0 ? undefined : theirs;
  const known = new Map(ours.entries.map((entry) => [entry.token, entry]));
  const news = theirs.entries.filter(
    ({ token, sure }) => !known.has(token) || (sure && known.get(token)?.sure === false),
  );
  if (news.length === 0) return undefined;
  for (const entry of news) known.set(entry.token, entry);
  const keptUntil = Math.max(ours.keptUntil, theirs.keptUntil);
  return { ...ours, revision: `${ours.revision}+${theirs.revision}`, entries: [...known.values()], keptUntil };
}

/** Maximum time from the reservation to SENDING. A slower attempt must reserve again. */
export const STEP_WITHIN: Duration = 15_000;
/** Time after which the reservation of a waiting delivery is abandoned, or its holder must be fenced. */
const ABANDONED: Duration = 30_000;

const ACCEPTED: ReadonlySet<DeliveryState> = new Set(['SENT', 'DELIVERED', 'BOUNCED', 'COMPLAINED']);

/** Returns the ended attempt of this token. Null if there is none or it is running. */
const endedAttempt = (token: string, { attempts, state, token: holder }: Delivery): Attempt | null =>
  (state === 'SENDING' && holder === token ? undefined : attempts.find((attempt) => attempt.token === token)) ?? null;

/**
 * Returns how an ended attempt counts. An attempt in doubt counts as sent unless an operator found out that it was not.
 */
function countOf({ result }: Attempt, { state, reason }: Delivery): 'sure' | 'doubt' | 'gone' {
  if (result?.verdict === 'accepted') return 'sure';
  if (state === 'FAILED' && reason === 'operator_dismiss') return 'gone';
  return result === null || result.verdict === 'ambiguous' ? 'doubt' : 'gone';
}

/**
 * Returns how an ended attempt of an accepted delivery counts: only if it may have caused the acceptance. Another
 * attempt still has to release its room. Marked as sent, it could represent the message in `newestOfEach`, and the
 * message would count no more after the release.
 */
function countOfAccepted(token: string, delivery: Delivery): 'sure' | 'gone' {
  const attempt = delivery.attempts.find((each) => each.token === token);
  return attempt && countOf(attempt, delivery) !== 'gone' ? 'sure' : 'gone';
}

/** State of an entry, by the delivery it belongs to. */
export type EntryFate =
  /** Accepted, so it counts permanently. */
  | 'sure'
  /** Counts for now. It is never marked as sent, because a late answer or an operator may end the doubt. */
  | 'doubt'
  /** Running: check again soon. */
  | 'again'
  | 'gone'
  /**
   * No step into SENDING is known, so a worker that still intends one must lose it first: increment the delivery's
   * version, then remove the entry. With a wrong clock this only fences too often.
   */
  | 'fence';

export function fateOf(entry: SentEntry, delivery: Delivery | null, now: Instant): EntryFate {
  if (!delivery) return 'gone';
  // Another intent took the slot over, so the intent of this entry ended unsent and without doubt.
  if (delivery.intent.triggerId !== entry.triggerId) return 'gone';
  if (ACCEPTED.has(delivery.state)) return countOfAccepted(entry.token, delivery);
  if (delivery.state === 'IN_DOUBT') return 'doubt';
  const attempt = endedAttempt(entry.token, delivery);
  // Sent again or given up after a doubt: the doubt still counts.
  if (attempt) return countOf(attempt, delivery);
  if (delivery.state === 'SENDING') return 'again';
  if (delivery.state === 'WAITING') return Math.abs(now - entry.at) < ABANDONED ? 'again' : 'fence';
  return 'gone';
}

/** Increments the version only. A worker that read the previous version then fails its compare-and-set to SENDING. */
export const fenced = (before: Delivery): Delivery => ({ ...before, version: before.version + 1 });
