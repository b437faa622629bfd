import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { LiveRow } from '../src/live/feeds.ts';
import { createLiveStream, MAX_WAITING, type LiveStream } from '../src/live/live-stream.ts';

/* Timing of a stream of server-sent events with fake timers: heartbeats, batches, and a reader that does not read. */

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const row = (key: string, says: unknown = key): LiveRow => {
  const body = { id: key, says };
  return { key, workspace: 'shop', body, text: JSON.stringify(body) };
};
const open = (): LiveStream =>
  createLiveStream(
    (_topic, { text }) => text,
    (positions) => JSON.stringify(positions),
  );
const tell = (stream: LiveStream, rows: readonly LiveRow[], position = 1): void =>
  stream.change('deliveries', { rows, isWhole: true, position });

type Batch = { readonly at: number; readonly text: string };

/** Reads as fast as anything comes, and notes when. */
function readAll(stream: LiveStream): readonly Batch[] {
  const begun = Date.now();
  const batches: Batch[] = [];
  void (async () => {
    for await (const text of stream.text()) batches.push({ at: Date.now() - begun, text });
  })();
  return batches;
}
const eventsOf = (batches: readonly Batch[]): readonly string[] =>
  batches.flatMap(({ text }) => [...text.matchAll(/^event: (.+)$/gm)].map(([, event = '']) => event));

describe('A live stream', () => {
  it('sends a heartbeat every 15 seconds without other events', async () => {
    const stream = open();
    stream.begin('deliveries', 0, null);
    const batches = readAll(stream);
    await vi.advanceTimersByTimeAsync(46_000);
    expect(eventsOf(batches)).toEqual(['open', 'heartbeat', 'heartbeat', 'heartbeat']);
    const gaps = batches.slice(1).map(({ at }, before) => at - (batches[before]?.at ?? 0));
    expect(Math.max(...gaps)).toBeLessThanOrEqual(15_250);
    // A row in between is as good as a heartbeat.
    await vi.advanceTimersByTimeAsync(10_000);
    tell(stream, [row('dlv_1')]);
    await vi.advanceTimersByTimeAsync(14_000);
    expect(eventsOf(batches).at(-1)).toBe('deliveries');
    stream.end();
  });

  it('sends at most four batches a second, each row in its latest state', async () => {
    const stream = open();
    stream.begin('deliveries', 0, null);
    const batches = readAll(stream);
    await vi.advanceTimersByTimeAsync(1_000);
    const before = batches.length;
    for (let step = 0; step < 100; step += 1) {
      tell(stream, [row('dlv_1', step)]);
      await vi.advanceTimersByTimeAsync(10);
    }
    await vi.advanceTimersByTimeAsync(300);
    const told = batches.slice(before);
    expect(told.length).toBeGreaterThan(2);
    for (const { at } of told) {
      expect(told.filter((one) => one.at >= at && one.at < at + 1_000).length).toBeLessThanOrEqual(4);
    }
    expect(told.at(-1)?.text).toContain('"says":99');
    stream.end();
  });

  it('keeps a bounded number of rows for a slow reader, then sends `reset`', async () => {
    const stream = open();
    stream.begin('deliveries', 0, null);
    const text = stream.text();
    await text.next();
    for (let at = 0; at < 20 * MAX_WAITING; at += 1) tell(stream, [row(`dlv_${at}`)], at);
    const told = text.next();
    await vi.advanceTimersByTimeAsync(1_000);
    const { value } = (await told) as { readonly value: string };
    expect([...value.matchAll(/^event: (.+)$/gm)].map(([, event]) => event)).toEqual(['reset']);
    expect(value).toContain('data: {"topic":"deliveries"}');
    // Continues at the reset, not where the reader stopped.
    expect(value).toContain(`id: {"deliveries":${20 * MAX_WAITING - 1}}`);
    tell(stream, [row('dlv_new')], -1);
    const next = text.next();
    await vi.advanceTimersByTimeAsync(1_000);
    expect((await next).value).toContain('dlv_new');
    stream.end();
  });

  it('ends at once although a heartbeat is pending', async () => {
    const stream = open();
    stream.begin('deliveries', 0, null);
    const text = stream.text();
    await text.next();
    const last = text.next();
    stream.end();
    expect(await last).toEqual({ value: undefined, done: true });
  });
});
