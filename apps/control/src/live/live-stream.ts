import type { Duration } from '@carillon/kernel';
import type { Change, LiveRow } from './feeds.ts';
import type { LiveTopic } from './source.ts';

/** Minimum time between batches. Rows that change more often are sent in their latest state. */
const BETWEEN_BATCHES: Duration = 250;
const HEARTBEAT_EVERY: Duration = 15_000;
/** Maximum waiting rows per list for a slow reader. Beyond it the reader gets `reset` and must read the list again. */
export const MAX_WAITING = 500;
/** How long a browser waits before it asks again. */
const ASKED_AGAIN_AFTER: Duration = 2_000;

export type LiveStream = {
  /** Sends the position of a list at the beginning, and the changes since the client's last connection. */
  begin(topic: LiveTopic, position: unknown, missed: Change | null): void;
  change(topic: LiveTopic, change: Change): void;
  /** Ends the stream. Waiting rows are dropped. */
  end(): void;
  /** Returns the stream as text, built while it is read, so that a slow reader only holds waiting rows in memory. */
  text(): AsyncGenerator<string>;
};

type Waiting = { readonly rows: Map<string, LiveRow>; isReset: boolean };

/** One response of server-sent events. `show` returns a row as the caller may see it, or null to skip it. */
export function createLiveStream(
  show: (topic: LiveTopic, row: LiveRow) => string | null,
  seal: (positions: Readonly<Record<string, unknown>>) => string,
): LiveStream {
  const positions = new Map<LiveTopic, unknown>();
  const waiting = new Map<LiveTopic, Waiting>();
  let hasEnded = false;
  let wake = (): void => undefined;

  function change(topic: LiveTopic, { rows, isWhole, position }: Change): void {
    positions.set(topic, position);
    const held: Waiting = waiting.get(topic) ?? { rows: new Map(), isReset: false };
    if (!isWhole) held.isReset = true;
    for (const row of rows) {
      held.rows.delete(row.key);
      held.rows.set(row.key, row);
    }
    if (held.rows.size > MAX_WAITING) held.isReset = true;
    if (held.isReset) held.rows.clear();
    if (!held.isReset && held.rows.size === 0) return;
    waiting.set(topic, held);
    wake();
  }

  const cursor = (): string => seal(Object.fromEntries(positions));

  /**
   * Returns the waiting rows as one text. Only its last event has the cursor, so a client that is disconnected earlier
   * gets the whole batch again.
   */
  function batch(): string {
    const events: { readonly event: string; readonly data: string }[] = [];
    for (const [topic, { rows, isReset }] of waiting) {
      if (isReset) events.push({ event: 'reset', data: JSON.stringify({ topic }) });
      for (const row of rows.values()) {
        const data = show(topic, row);
        if (data !== null) events.push({ event: topic, data });
      }
    }
    waiting.clear();
    const last = events.length - 1;
    return events.map((one, at) => eventText(one.event, one.data, at === last ? cursor() : undefined)).join('');
  }

  async function pause(span: Duration, isWoken: boolean): Promise<void> {
    if (hasEnded || (isWoken && waiting.size > 0)) return;
    await new Promise<void>((resolve) => {
      const timer = setTimeout(resolve, span);
      wake = () => {
        if (!isWoken && !hasEnded) return;
        clearTimeout(timer);
        resolve();
      };
    });
    wake = () => undefined;
  }

  return {
    begin(topic, position, missed) {
      positions.set(topic, position);
      if (missed) change(topic, { ...missed, position });
    },
    change,
    end() {
      hasEnded = true;
      wake();
    },
    async *text() {
      yield `retry: ${ASKED_AGAIN_AFTER}\n${eventText('open', JSON.stringify({ topics: [...positions.keys()] }), waiting.size === 0 ? cursor() : undefined)}`;
      while (!hasEnded) {
        await pause(HEARTBEAT_EVERY, true);
        if (hasEnded) return;
        const text = waiting.size > 0 ? batch() : eventText('heartbeat', '{}', cursor());
        if (text !== '') yield text;
        await pause(BETWEEN_BATCHES, false);
      }
    },
  };
}

/** Data is JSON, which has no line of its own to end. */
const eventText = (event: string, data: string, id?: string): string =>
  `event: ${event}\n${id === undefined ? '' : `id: ${id}\n`}data: ${data}\n\n`;
