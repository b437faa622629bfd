import type { DeriveId, Instant } from '@carillon/kernel';
import type { ChannelName } from '../channels/channel.ts';

/** What somebody wants no more. A category has its name in the workspace, a notification its stable id. */
export type ConsentTarget =
  | { readonly kind: 'all' }
  | { readonly kind: 'category' | 'notification'; readonly name: string };

/** Where a word came from: a mail program's button, the page, an operator or a program over the API, a file. */
export const CONSENT_WAYS = ['one_click', 'page', 'api', 'import'] as const;
export type ConsentWay = (typeof CONSENT_WAYS)[number];

/** One word of a person: out, or in again. It stands in the person's document and, the same, on `carillon.consents`. */
export type ConsentEntry = {
  /** Derived from what it says and when, so that the same word never counts twice. */
  readonly id: string;
  readonly workspace: string;
  /** As `personName` writes it. */
  readonly person: string;
  readonly target: ConsentTarget;
  /** Null: on all channels. */
  readonly channel: ChannelName | null;
  readonly optedOut: boolean;
  readonly way: ConsentWay;
  /** Who said it in the person’s place; left out where the person did. */
  readonly by?: string;
  readonly at: Instant;
};

/** The one document of a person in a workspace: the newest word for each target and channel. */
export type Consents = {
  readonly workspace: string;
  readonly person: string;
  /** Grows by one with every write; compare-and-set goes by it. 1 is the first. */
  readonly version: number;
  readonly words: readonly ConsentEntry[];
  /** Words that may not be on the log yet: they are appended, then taken out. */
  readonly unpublished: readonly ConsentEntry[];
  readonly updatedAt: Instant;
};

/** What a person decides; the rest of the word follows from person and time. */
export type Decision = Pick<ConsentEntry, 'target' | 'channel' | 'optedOut' | 'way' | 'by'> & {
  /** When it was said, where that is not now: what was said later stays. */
  readonly at?: Instant;
};

type Person = Pick<Consents, 'workspace' | 'person'>;

const NAME_OF_ALL = '';
export const nameOfTarget = (target: ConsentTarget): string => (target.kind === 'all' ? NAME_OF_ALL : target.name);

/** Words about the same target and channel have the same place: of them the newest counts. */
const placeOf = ({ target, channel }: Pick<ConsentEntry, 'target' | 'channel'>): string =>
  JSON.stringify([target.kind, nameOfTarget(target), channel]);

/** Total, so that any two processes agree: later is newer; at the same time an opt-out is, then the greater id. */
function isNewer(one: ConsentEntry, than: ConsentEntry): boolean {
  if (one.at !== than.at) return one.at > than.at;
  if (one.optedOut !== than.optedOut) return one.optedOut;
  return one.id > than.id;
}

/** The newest word of each place, in an order that is the same whatever order they came in. */
function newest(words: readonly ConsentEntry[]): readonly ConsentEntry[] {
  const kept = new Map<string, ConsentEntry>();
  for (const word of words) {
    const place = placeOf(word);
    const held = kept.get(place);
    if (!held || isNewer(word, held)) kept.set(place, word);
  }
  return [...kept].toSorted(([a], [b]) => (a < b ? -1 : 1)).map(([, word]) => word);
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
 * Writes down what a person decides. Said now, it is newer than everything in the document, whatever the clocks of other
 * processes said; said at another time, it gives way to what is newer. What stands is said again too: the document may be one that was put back, and the log may know a word
 * that came in between. Only to want what nobody ever stopped is not written; undefined where nothing is.
 */
export function decide(
  before: Consents | null,
  person: Person,
  decisions: readonly Decision[],
  { now, derive }: { readonly now: Instant; readonly derive: DeriveId },
): Consents | undefined {
  const held = before ?? nothingOf(person);
  const standing = new Map(held.words.map((word) => [placeOf(word), word]));
  const next = held.words.reduce((latest, word) => Math.max(latest, word.at + 1), now);
  const made = decisions
    .filter((decision) => decision.optedOut || standing.has(placeOf(decision)))
    .map((decision): ConsentEntry => {
      const { target, channel, optedOut, way, by, at = next } = decision;
      const facts = [target.kind, nameOfTarget(target), channel ?? '', String(optedOut), String(at)];
      const id = derive('consent', held.workspace, held.person, ...facts);
      const { workspace, person: name } = held;
      return { id, workspace, person: name, target, channel, optedOut, way, ...(by !== undefined && { by }), at };
    })
    .filter((word) => {
      const known = standing.get(placeOf(word));
      return known === undefined || isNewer(word, known);
    });
  if (made.length === 0) return undefined;
  // A word that is said again before it is on the log is there once: whoever clicks a hundred times fills nothing.
  const repeated = new Set(
    made.flatMap((word) => {
      const same = standing.get(placeOf(word));
      return same?.optedOut === word.optedOut ? [same.id] : [];
    }),
  );
  return {
    ...held,
    version: held.version + 1,
    words: newest([...held.words, ...made]),
    unpublished: [...held.unpublished.filter(({ id }) => !repeated.has(id)), ...made],
    updatedAt: now,
  };
}

/**
 * Takes in words that the log or another copy of the document knows; newest wins, so their order does not matter. Nothing
 * of it is unpublished by that. Undefined where the document knows them all, or newer ones.
 */
export function fold(
  before: Consents | null,
  person: Person,
  words: readonly ConsentEntry[],
  now: Instant,
): Consents | undefined {
  const held = before ?? nothingOf(person);
  const known = new Map(held.words.map((word) => [placeOf(word), word]));
  const news = newest(words).filter((word) => {
    const standing = known.get(placeOf(word));
    return standing === undefined || isNewer(word, standing);
  });
  if (news.length === 0) return undefined;
  return { ...held, version: held.version + 1, words: newest([...held.words, ...news]), updatedAt: now };
}

/**
 * What another copy of the document brings that this one does not know, or knows an older word of. The log that knew it
 * stays behind, so all that it brings is unpublished here. Undefined where it brings nothing.
 */
export function takeOver(before: Consents | null, other: Consents): Consents | undefined {
  const next = fold(before, other, other.words, other.updatedAt);
  if (!next) return undefined;
  const held = new Set([...(before?.words ?? []), ...next.unpublished].map(({ id }) => id));
  return { ...next, unpublished: [...next.unpublished, ...next.words.filter(({ id }) => !held.has(id))] };
}

/** The document without words that are on the log now; undefined where it holds none of them. */
export function publishedWords(before: Consents, ids: ReadonlySet<string>): Consents | undefined {
  const unpublished = before.unpublished.filter(({ id }) => !ids.has(id));
  if (unpublished.length === before.unpublished.length) return undefined;
  return { ...before, version: before.version + 1, unpublished };
}

/** The words of the later document by which a target and channel stand differently. */
export function changedWords(
  before: Pick<Consents, 'words'> | null,
  after: Pick<Consents, 'words'>,
): readonly ConsentEntry[] {
  const stopped = new Map((before?.words ?? []).map((word) => [placeOf(word), word.optedOut]));
  return after.words.filter((word) => (stopped.get(placeOf(word)) ?? false) !== word.optedOut);
}

/** What a message is, as far as somebody may want no more of it. */
export type ConsentQuestion = {
  readonly notificationId: string;
  /** Its category under every name that it ever had; empty where it has none. */
  readonly categories: readonly string[];
  readonly channel: ChannelName;
};

/** The word by which a message is unwanted, the widest first; null where nobody said so. */
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
        (word) =>
          word.optedOut &&
          word.target.kind === kind &&
          nameOfTarget(word.target) === name &&
          (word.channel === null || word.channel === channel),
      );
      if (found) return found;
    }
  }
  return null;
}
