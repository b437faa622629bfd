import type { DeriveId, Instant } from '@carillon/kernel';
import type { ChannelName } from '../channels/channel.ts';

/** Scope of an opt-out. A category is identified by its name in the workspace, a notification by its stable id. */
export type ConsentTarget =
  | { readonly kind: 'all' }
  | { readonly kind: 'category' | 'notification'; readonly name: string };

/** Origin of a choice: the button of a mail program, the preference page, the API, or a file. */
export const CONSENT_WAYS = ['one_click', 'page', 'api', 'import'] as const;
export type ConsentWay = (typeof CONSENT_WAYS)[number];

/**
 * One choice of a person: an opt-out or its reversal. It is stored in the person's document and, under the hash of the person,
 * on `carillon.consents`.
 */
export type ConsentEntry = {
  /** Derived from content and time, so that the same choice never counts twice. */
  readonly id: string;
  readonly workspace: string;
  /** Person, as formatted by `personName`. On the log it is the keyed hash of that (`hashedName`). */
  readonly person: string;
  readonly target: ConsentTarget;
  /** Null for all channels. */
  readonly channel: ChannelName | null;
  readonly optedOut: boolean;
  readonly way: ConsentWay;
  /** Author of the choice if it was not the person. */
  readonly by?: string;
  readonly at: Instant;
};

/** All choices of a person in a workspace: the newest per target and channel. */
export type Consents = {
  readonly workspace: string;
  readonly person: string;
  /** Keyed hash by which records of the log name the person. Left out by earlier releases, and if the document is named by it. */
  readonly hash?: string;
  /** Number of writes, starting at 1. Used for compare-and-set. */
  readonly version: number;
  readonly words: readonly ConsentEntry[];
  /** Choices that may not be on the log yet. They are appended, then removed from this list. */
  readonly unpublished: readonly ConsentEntry[];
  readonly updatedAt: Instant;
};

/** A person's choice, before person, workspace and time are added. */
export type Decision = Pick<ConsentEntry, 'target' | 'channel' | 'optedOut' | 'way' | 'by'> & {
  /** Time of an earlier choice. It does not override newer choices. Defaults to now. */
  readonly at?: Instant;
};

type Person = Pick<Consents, 'workspace' | 'person'>;

const NAME_OF_ALL = '';
export const nameOfTarget = (target: ConsentTarget): string => (target.kind === 'all' ? NAME_OF_ALL : target.name);

/** Returns the key of a target and channel. The newest choice per key counts. */
const scopeOf = ({ target, channel }: Pick<ConsentEntry, 'target' | 'channel'>): string =>
  JSON.stringify([target.kind, nameOfTarget(target), channel]);

/**
 * Total order, so that all processes agree: the later choice is newer; at equal times an opt-out is, then the greater
 * id.
 */
function isNewer(entry: ConsentEntry, other: ConsentEntry): boolean {
  if (entry.at !== other.at) return entry.at > other.at;
  if (entry.optedOut !== other.optedOut) return entry.optedOut;
  return entry.id > other.id;
}

/** Returns the newest choice per target and channel, in an order independent of the input order. */
function newest(entries: readonly ConsentEntry[]): readonly ConsentEntry[] {
  const byScope = new Map<string, ConsentEntry>();
  for (const entry of entries) {
    const scope = scopeOf(entry);
    const known = byScope.get(scope);
    if (!known || isNewer(entry, known)) byScope.set(scope, entry);
  }
  return [...byScope].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, entry]) => entry);
}

const nothingOf = ({ workspace, person }: Person): Consents => ({
  workspace,
  person,
  version: 0,
  words: [],
  unpublished: [],
  updatedAt: 0,
});

/**
 * Adds choices of a person. A choice made now is newer than everything in the document, even if clocks of other
 * processes run ahead. A choice with an earlier time gives way to newer ones. An unchanged choice is added again,
 * because the document may come from a backup while the log has choices made in between. Skips an opt-in to something
 * never opted out of. Returns undefined if nothing is added.
 */
export function decide(
  before: Consents | null,
  person: Person,
  decisions: readonly Decision[],
  { now, derive }: { readonly now: Instant; readonly derive: DeriveId },
): Consents | undefined {
  const consents = before ?? nothingOf(person);
  const newestByScope = new Map(consents.words.map((entry) => [scopeOf(entry), entry]));
  const next = consents.words.reduce((latest, entry) => Math.max(latest, entry.at + 1), now);
  const made = decisions
    .filter((decision) => decision.optedOut || newestByScope.has(scopeOf(decision)))
    .map((decision): ConsentEntry => {
      const { target, channel, optedOut, way, by, at = next } = decision;
      const facts = [target.kind, nameOfTarget(target), channel ?? '', String(optedOut), String(at)];
      const id = derive('consent', consents.workspace, consents.person, ...facts);
      const { workspace, person: name } = consents;
      return { id, workspace, person: name, target, channel, optedOut, way, ...(by !== undefined && { by }), at };
    })
    .filter((entry) => {
      const earlier = newestByScope.get(scopeOf(entry));
      return earlier === undefined || isNewer(entry, earlier);
    });
  if (made.length === 0) return undefined;
  // A choice that is repeated before it is on the log is stored once, so repeated clicks do not fill the document.
  const repeated = new Set(
    made.flatMap((entry) => {
      const same = newestByScope.get(scopeOf(entry));
      return same?.optedOut === entry.optedOut ? [same.id] : [];
    }),
  );
  return {
    ...consents,
    version: consents.version + 1,
    words: newest([...consents.words, ...made]),
    unpublished: [...consents.unpublished.filter(({ id }) => !repeated.has(id)), ...made],
    updatedAt: now,
  };
}

/**
 * Merges choices that are known from the log or another copy of the document. The newest wins, so their order is
 * irrelevant. Merging makes nothing unpublished. Returns undefined if the document already has these or newer choices.
 */
export function fold(
  before: Consents | null,
  person: Person,
  entries: readonly ConsentEntry[],
  now: Instant,
): Consents | undefined {
  const consents = before ?? nothingOf(person);
  const newestByScope = new Map(consents.words.map((entry) => [scopeOf(entry), entry]));
  const news = newest(entries).filter((entry) => {
    const earlier = newestByScope.get(scopeOf(entry));
    return earlier === undefined || isNewer(entry, earlier);
  });
  if (news.length === 0) return undefined;
  return { ...consents, version: consents.version + 1, words: newest([...consents.words, ...news]), updatedAt: now };
}

/**
 * Merges choices of a copy from another deployment. The old log stays behind, so all merged choices become unpublished
 * here. Returns undefined if the copy has nothing newer.
 */
export function takeOver(before: Consents | null, other: Consents): Consents | undefined {
  const next = fold(before, other, other.words, other.updatedAt);
  if (!next) return undefined;
  const onLog = new Set([...(before?.words ?? []), ...next.unpublished].map(({ id }) => id));
  const { hash = other.hash } = next;
  return {
    ...next,
    ...(hash !== undefined && { hash }),
    unpublished: [...next.unpublished, ...next.words.filter(({ id }) => !onLog.has(id))],
  };
}

/** Removes choices that are on the log now from `unpublished`. Returns undefined if there are none. */
export function publishedWords(before: Consents, ids: ReadonlySet<string>): Consents | undefined {
  const unpublished = before.unpublished.filter(({ id }) => !ids.has(id));
  if (unpublished.length === before.unpublished.length) return undefined;
  return { ...before, version: before.version + 1, unpublished };
}

/** Returns the choices of the later document that change a target and channel. */
export function changedWords(
  before: Pick<Consents, 'words'> | null,
  after: Pick<Consents, 'words'>,
): readonly ConsentEntry[] {
  const stopped = new Map((before?.words ?? []).map((entry) => [scopeOf(entry), entry.optedOut]));
  return after.words.filter((entry) => (stopped.get(scopeOf(entry)) ?? false) !== entry.optedOut);
}

/** Properties of a message that opt-outs can refer to. */
export type ConsentQuestion = {
  readonly notificationId: string;
  /** All names its category ever had. Empty without a category. */
  readonly categories: readonly string[];
  readonly channel: ChannelName;
};

/** Returns the opt-out that covers a message, the widest scope first. Null if none does. */
export function optOutFor(
  documents: readonly Pick<Consents, 'words'>[],
  { notificationId, categories, channel }: ConsentQuestion,
): ConsentEntry | null {
  const wanted = [
    ['all', NAME_OF_ALL],
    ...categories.map((name) => ['category', name] as const),
    ['notification', notificationId],
  ] as const;
  for (const [kind, name] of wanted) {
    for (const { words } of documents) {
      const found = words.find(
        (entry) =>
          entry.optedOut &&
          entry.target.kind === kind &&
          nameOfTarget(entry.target) === name &&
          (entry.channel === null || entry.channel === channel),
      );
      if (found) return found;
    }
  }
  return null;
}
