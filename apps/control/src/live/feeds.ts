import { createHash } from 'node:crypto';
import type { Duration } from '@carillon/kernel';
import { startLoop } from '@carillon/runtime';
import type { LiveItem, LiveList, LiveSource, LiveTopic } from './source.ts';

/** A row that changed, with what it says as text, written once for all who see all of it. */
export type LiveRow = LiveItem & { readonly text: string };

export type Change = { readonly rows: readonly LiveRow[]; readonly isWhole: boolean; readonly position: unknown };

export type Subscription = {
  /** Where the list stood when the subscription began. */
  readonly position: unknown;
  /** Changes since the requested position. Null if none was requested. */
  readonly missed: Change | null;
  end(): void;
};

export type Feeds = {
  /**
   * Follows a list of one workspace, or of all for null. `from` is a position from an earlier stream; by default it
   * starts now. Every later change is delivered, possibly more than once.
   */
  subscribe(
    topic: LiveTopic,
    workspace: string | null,
    from: unknown,
    told: (change: Change) => void,
  ): Promise<Subscription>;
};

/** Interval of reads per followed list, and thereby the maximum delay of a change. */
const LOOKED_EVERY: Duration = 500;
/** Rows whose last content is remembered, so that unchanged rows are not sent again. */
const MAX_KNOWN = 2_000;

type Feed = {
  readonly source: LiveSource<unknown>;
  readonly listeners: Set<(change: Change) => void>;
  /** Digests of the rows as last sent, oldest first. */
  readonly known: Map<string, string>;
  position: unknown;
  stop: () => Promise<void>;
};

const NOTHING_KNOWN = { isKnown: () => false, keys: [] } as const;

/** Creates the polls of one process, shared by all clients of a list. A poll runs while its list has clients. */
export function createFeeds(lists: Readonly<Record<LiveTopic, LiveList>>, failed: (error: unknown) => void): Feeds {
  const feeds = new Map<string, Promise<Feed>>();

  async function openFeed(topic: LiveTopic, workspace: string | null): Promise<Feed> {
    const source = lists[topic].open(workspace);
    const known = new Map<string, string>();
    const listeners = new Set<(change: Change) => void>();
    const begun = await source.begin();
    // Existing rows are known and not sent as new.
    const first = await source.since(begun, NOTHING_KNOWN.isKnown, NOTHING_KNOWN.keys);
    freshOf(first.items, known);
    const feed: Feed = { source, listeners, known, position: begun, stop: async () => undefined };
    const loop = startLoop(LOOKED_EVERY, () => look(feed), failed);
    feed.stop = () => loop.stop();
    return feed;
  }

  async function look(feed: Feed): Promise<void> {
    if (feed.listeners.size === 0) return;
    const { items, isWhole, position } = await feed.source.since(feed.position, (key) => feed.known.has(key), [
      ...feed.known.keys(),
    ]);
    const rows = freshOf(items, feed.known);
    if (!isWhole) forgetMissing(feed.known, items);
    feed.position = position;
    for (const told of feed.listeners) told({ rows, isWhole, position });
  }

  return {
    async subscribe(topic, workspace, from, told) {
      const name = JSON.stringify([topic, workspace]);
      const opening = feeds.get(name) ?? openFeed(topic, workspace);
      feeds.set(name, opening);
      const forget = (): void => {
        if (feeds.get(name) === opening) feeds.delete(name);
      };
      const feed = await opening.catch((error: unknown) => {
        forget();
        throw error;
      });
      feed.listeners.add(told);
      const end = (): void => {
        if (!feed.listeners.delete(told) || feed.listeners.size > 0) return;
        forget();
        void feed.stop();
      };
      if (from === undefined) return { position: feed.position, missed: null, end };
      try {
        return { position: feed.position, missed: await missedSince(feed.source, from), end };
      } catch (error) {
        end();
        throw error;
      }
    },
  };
}

async function missedSince(source: LiveSource<unknown>, from: unknown): Promise<Change> {
  const position = source.read(from);
  if (position === null) return { rows: [], isWhole: false, position: null };
  const look = await source.since(position, NOTHING_KNOWN.isKnown, NOTHING_KNOWN.keys);
  return { ...look, rows: look.isWhole ? freshOf(look.items, new Map()) : [] };
}

/** Returns the items that changed since they were last sent. */
function freshOf(items: readonly LiveItem[], known: Map<string, string>): readonly LiveRow[] {
  const fresh: LiveRow[] = [];
  for (const item of items) {
    const text = JSON.stringify(item.body);
    const digest = createHash('sha256').update(text).digest('base64');
    const before = known.get(item.key);
    known.delete(item.key);
    known.set(item.key, digest);
    if (before !== digest) fresh.push({ ...item, text });
  }
  for (const oldest of known.keys()) {
    if (known.size <= MAX_KNOWN) break;
    known.delete(oldest);
  }
  return fresh;
}

/** Forgets removed rows when a list has to be read again, so that they are not reported as missing twice. */
function forgetMissing(known: Map<string, string>, items: readonly LiveItem[]): void {
  const there = new Set(items.map(({ key }) => key));
  for (const key of known.keys()) if (!there.has(key)) known.delete(key);
}
