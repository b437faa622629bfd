import type { Duration, Instant } from '@carillon/kernel';
import type { Attempt, Delivery, DeliveryState } from '../deliveries/delivery.ts';
import { countedUntil, type SentEntry } from './limits.ts';
import type { LimitBook } from './limit-settings.ts';

/**
 * What was sent to a person of a workspace, as far as a limit may count it: one document, written by compare-and-set.
 * Each writer adds and removes only the entry of its own token.
 */
export type SentToPerson = {
  readonly workspace: string;
  /** As `personName` writes it. */
  readonly person: string;
  /** Another with every write, never used again: a document that was removed and made anew is not taken for the old one. */
  readonly revision: string;
  readonly entries: readonly SentEntry[];
  /** From then on nothing counts it: it may be removed. */
  readonly keptUntil: Instant;
};

/** What a change of the document goes by. */
export type Pruning = {
  readonly book: LimitBook;
  readonly zone: string;
  readonly now: Instant;
  readonly revision: string;
};

type Person = Pick<SentToPerson, 'workspace' | 'person'>;

/** The document with these entries, without what no limit counts any more. */
function written(
  { workspace, person }: Person,
  entries: readonly SentEntry[],
  { book, zone, now, revision }: Pruning,
): SentToPerson {
  const kept: SentEntry[] = [];
  let keptUntil = now;
  for (const entry of entries) {
    const until = countedUntil(book.of(entry.notificationId), entry, zone);
    if (until === null || until <= now) continue;
    kept.push(entry);
    keptUntil = Math.max(keptUntil, until);
  }
  return { workspace, person, revision, entries: newestOfEach(kept), keptUntil };
}

/**
 * Devices of one trigger count as one message, as long as its newest entry does: once they are sure, that one says it all.
 * What is not sure stays, since it may be given back.
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

/** Takes a place. Entries of the same delivery stay: each belongs to its own attempt. */
export const withEntry = (
  before: SentToPerson | null,
  person: Person,
  entry: SentEntry,
  pruning: Pruning,
): SentToPerson => written(person, [...(before?.entries ?? []), entry], pruning);

/** Gives a place back: the entry of this very token. Undefined where it is not there. */
export function withoutEntry(before: SentToPerson | null, token: string, revision: string): SentToPerson | undefined {
  if (!before?.entries.some((entry) => entry.token === token)) return undefined;
  return { ...before, revision, entries: before.entries.filter((entry) => entry.token !== token) };
}

/** What was found out about entries, by token. */
export type FoundOut = { readonly sure: ReadonlySet<string>; readonly gone: ReadonlySet<string> };

/** Marks what was sent, so that it is looked at once, and takes out what never was. */
export const withFound = (before: SentToPerson, { sure, gone }: FoundOut, pruning: Pruning): SentToPerson =>
  written(
    before,
    before.entries
      .filter(({ token }) => !gone.has(token))
      .map((entry) => (sure.has(entry.token) ? { ...entry, sure: true } : entry)),
    pruning,
  );

/**
 * What two copies of a document know, by token; one that either has seen sent counts. For what comes from elsewhere: its
 * revision is as good as any, since nobody here has read it. Undefined where it knows nothing more.
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

/** From taking a place to SENDING; whoever is slower takes it again. */
export const STEP_WITHIN: Duration = 15_000;
/** A place whose delivery still waits after this has nobody any more, or somebody who is to lose. */
const ABANDONED: Duration = 30_000;

const ACCEPTED: ReadonlySet<DeliveryState> = new Set(['SENT', 'DELIVERED', 'BOUNCED', 'COMPLAINED']);

/** The attempt of this token where it is over; null where there is none, or it is under way. */
const endedAttempt = (token: string, { attempts, state, token: holder }: Delivery): Attempt | null =>
  (state === 'SENDING' && holder === token ? undefined : attempts.find((one) => one.token === token)) ?? null;

/** What an attempt that is over counts. Nobody can say that a doubt was not sent, but an operator who looked. */
function countOf({ result }: Attempt, { state, reason }: Delivery): 'sure' | 'doubt' | 'gone' {
  if (result?.verdict === 'accepted') return 'sure';
  if (state === 'FAILED' && reason === 'operator_dismiss') return 'gone';
  return result === null || result.verdict === 'ambiguous' ? 'doubt' : 'gone';
}

/**
 * An attempt of an accepted delivery counts only where it may have led to that. Whoever took a place and lost the step,
 * or was refused, has yet to give the place back. Marked as sure, that place could stand for the message in
 * `newestOfEach`, and the message would count no more once it is given back.
 */
function countOfAccepted(token: string, delivery: Delivery): 'sure' | 'gone' {
  const attempt = delivery.attempts.find((one) => one.token === token);
  return attempt && countOf(attempt, delivery) !== 'gone' ? 'sure' : 'gone';
}

/** What an entry is, by the delivery that it belongs to. */
export type EntryFate =
  /** Accepted: it counts for good. */
  | 'sure'
  /** It counts now. It is never marked, since a late answer or an operator may end the doubt. */
  | 'doubt'
  /** Under way: whether it counts is known soon. */
  | 'again'
  | 'gone'
  /**
   * Nobody has been seen to step, so whoever still means to must lose first: raise the delivery's version, then take the
   * entry out. A clock that is far off only ever fences.
   */
  | 'fence';

export function fateOf(entry: SentEntry, delivery: Delivery | null, now: Instant): EntryFate {
  if (!delivery) return 'gone';
  // Another intent took the slot over: the one of this entry ended unsent, and no attempt of it was in doubt.
  if (delivery.intent.triggerId !== entry.triggerId) return 'gone';
  if (ACCEPTED.has(delivery.state)) return countOfAccepted(entry.token, delivery);
  if (delivery.state === 'IN_DOUBT') return 'doubt';
  const attempt = endedAttempt(entry.token, delivery);
  // Sent again or given up after a doubt: the doubt goes on counting.
  if (attempt) return countOf(attempt, delivery);
  if (delivery.state === 'SENDING') return 'again';
  if (delivery.state === 'WAITING') return Math.abs(now - entry.at) < ABANDONED ? 'again' : 'fence';
  return 'gone';
}

/** Raises the version and nothing else: whoever read the delivery before loses the step into SENDING. */
export const fenced = (before: Delivery): Delivery => ({ ...before, version: before.version + 1 });
