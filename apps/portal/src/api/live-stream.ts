import type { paths } from './management-api.generated.ts';
import { createEventReader, type ServerEvent } from './event-text.ts';

type LiveQuery = paths['/v1/workspaces/{workspace}/live']['get']['parameters']['query'];
/** A list that tells its changes. */
export type LiveTopic = LiveQuery['topics'][number];
/** `lost`: it was tried and could not be had; whoever follows asks by themselves until it is `live`. */
export type LiveState = 'opening' | 'live' | 'lost';

/** Callbacks for the followers of a list. */
export type Follower = {
  /** Rows that are new or say something else, as the list has them now. The same may be told again. */
  readonly changed: (rows: readonly unknown[]) => void;
  /** More changed than is told: the list has to be read again. */
  readonly reset: () => void;
};

export type LiveStream = {
  /** Follows a list until the answer is called. */
  readonly follow: (topic: LiveTopic, follower: Follower) => () => void;
  readonly state: () => LiveState;
  /** When a lost stream is tried again, in milliseconds since the epoch; null: it is being tried, or is there. */
  readonly retryAt: () => number | null;
  /** Calls when state or time of the next try change. */
  readonly watch: (listener: () => void) => () => void;
  /** Whether anybody looks: without, nothing is kept open. */
  readonly look: (isLooking: boolean) => void;
};

/** All in milliseconds. */
type Spans = {
  /** Screens that come and go together ask once. */
  readonly settle: number;
  readonly firstRetry: number;
  readonly longestRetry: number;
  /** The server says something every 15 s; without a word for so long, the connection is given up. */
  readonly silence: number;
};
const SPANS: Spans = { settle: 50, firstRetry: 2_000, longestRetry: 30_000, silence: 40_000 };

/**
 * A stream of the changes of one workspace, shared by all followers of its lists. Opens with the first follower,
 * continues after the last position, and reconnects with growing pauses. Calls `reset` if events may be missing. `ask`
 * opens the stream like `fetch`.
 */
export function createLiveStream(
  workspace: string,
  ask: (url: string, init: RequestInit) => Promise<Response>,
  spans: Spans = SPANS,
): LiveStream {
  const followers = new Map<LiveTopic, Set<Follower>>();
  const shown = createShownState();
  const { say } = shown;
  let place: string | undefined;
  let isLooking = true;
  let failures = 0;
  let asked: ReadonlySet<LiveTopic> = new Set();
  let open: AbortController | null = null;
  let timer: ReturnType<typeof setTimeout> | undefined;

  const after = (span: number): void => {
    clearTimeout(timer);
    timer = setTimeout(adjust, span);
  };

  /** Opens, closes or opens anew, as followers want it. */
  function adjust(): void {
    clearTimeout(timer);
    const wanted = [...followers].filter(([, all]) => all.size > 0).map(([topic]) => topic);
    if (!isLooking || wanted.length === 0) {
      open?.abort();
      open = null;
      failures = 0;
      say('opening');
      return;
    }
    if (open && wanted.every((topic) => asked.has(topic))) return;
    open?.abort();
    asked = new Set(wanted);
    say(shown.state());
    open = new AbortController();
    void run(open);
  }

  async function run(own: AbortController): Promise<void> {
    let longer = 0;
    try {
      longer = await read(own);
    } catch {
      // Whatever broke it, it is tried again.
    }
    if (open !== own) return;
    own.abort();
    open = null;
    failures += 1;
    const pause = Math.max(longer, Math.min(spans.longestRetry, spans.firstRetry * 2 ** (failures - 1)));
    // A stream that was there may end for a moment, as with a server that starts anew.
    say(failures > 1 || longer > 0 ? 'lost' : 'opening', Date.now() + pause);
    after(pause);
  }

  function opened(): void {
    failures = 0;
    say('live');
  }

  /** Reads until it ends; answers how long the server wants to be left alone. */
  async function read(own: AbortController): Promise<number> {
    let silence = setTimeout(() => own.abort(), spans.silence);
    try {
      const answer = await ask(addressOf(workspace, asked), { signal: own.signal, headers: headersAfter(place) });
      if (!answer.ok || !answer.body) {
        await answer.body?.cancel();
        // What is refused stays so for a while; a busy server says for how long.
        return 1_000 * Number(answer.headers.get('retry-after') ?? 0) || spans.longestRetry;
      }
      const pieces = answer.body.pipeThrough(new TextDecoderStream()).getReader();
      const readEvents = createEventReader();
      for (;;) {
        const { done, value } = await pieces.read();
        if (open !== own || done) return 0;
        clearTimeout(silence);
        silence = setTimeout(() => own.abort(), spans.silence);
        place = tellEvents(readEvents(value), place, { asked, followers, opened });
      }
    } finally {
      clearTimeout(silence);
    }
  }

  return {
    follow(topic, follower) {
      const all = followers.get(topic) ?? new Set();
      followers.set(topic, all.add(follower));
      if (open === null && shown.retryAt() !== null) return leave;
      after(spans.settle);
      return leave;
      function leave(): void {
        all.delete(follower);
        if (all.size === 0 && shown.retryAt() === null) after(spans.settle);
      }
    },
    state: shown.state,
    retryAt: shown.retryAt,
    watch: shown.watch,
    look(now) {
      if (isLooking === now) return;
      isLooking = now;
      adjust();
    },
  };
}

/** The state of the stream as watchers see it, and the time of the next try. */
function createShownState() {
  const watchers = new Set<() => void>();
  let state: LiveState = 'opening';
  let retryAt: number | null = null;
  return {
    state: () => state,
    retryAt: () => retryAt,
    say: (next: LiveState, at: number | null = null): void => {
      if (state === next && retryAt === at) return;
      state = next;
      retryAt = at;
      for (const watcher of watchers) watcher();
    },
    watch: (listener: () => void): (() => void) => {
      watchers.add(listener);
      return () => void watchers.delete(listener);
    },
  };
}

const addressOf = (workspace: string, asked: ReadonlySet<LiveTopic>): string =>
  `/v1/workspaces/${encodeURIComponent(workspace)}/live?${new URLSearchParams({ topics: [...asked].join(',') })}`;

const headersAfter = (place: string | undefined): Record<string, string> => ({
  accept: 'text/event-stream',
  'x-carillon': '1',
  ...(place !== undefined && { 'last-event-id': place }),
});

type Told = {
  readonly asked: ReadonlySet<LiveTopic>;
  readonly followers: ReadonlyMap<LiveTopic, ReadonlySet<Follower>>;
  readonly opened: () => void;
};

/** Passes events to followers. Returns the position after the last event. */
function tellEvents(
  events: readonly ServerEvent[],
  from: string | undefined,
  { asked, followers, opened }: Told,
): string | undefined {
  let place = from;
  const tell = (topic: LiveTopic, how: (follower: Follower) => void): void => {
    for (const follower of followers.get(topic) ?? []) how(follower);
  };
  const rows = new Map<LiveTopic, unknown[]>();
  for (const { event, id, data } of events) {
    if (event === 'open') {
      opened();
      // Without a position, events since the lists were read may be missing.
      if (place === undefined) for (const topic of asked) tell(topic, ({ reset }) => reset());
    } else if (event === 'reset') {
      const { topic } = JSON.parse(data) as { readonly topic: LiveTopic };
      rows.delete(topic);
      tell(topic, ({ reset }) => reset());
    } else if (asked.has(event as LiveTopic)) {
      const topic = event as LiveTopic;
      rows.set(topic, [...(rows.get(topic) ?? []), JSON.parse(data)]);
    }
    place = id ?? place;
  }
  for (const [topic, changed] of rows) tell(topic, (follower) => follower.changed(changed));
  return place;
}
