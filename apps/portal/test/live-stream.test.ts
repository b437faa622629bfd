import { afterEach, describe, expect, it } from 'vitest';
import { createEventReader } from '../src/api/event-text.ts';
import { createLiveStream, type LiveStream, type LiveTopic } from '../src/api/live-stream.ts';
import { withChanged } from '../src/api/pages.ts';

const TEXT =
  'retry: 2000\nevent: open\nid: c1\ndata: {"topics":["deliveries"]}\n\n: nothing\n\nevent: deliveries\ndata: {"id":"dlv_ö"}\n\nevent: deliveries\r\nid: c2\r\ndata: {"id":\r\ndata: "dlv_2"}\r\n\r\n';
const EVENTS = [
  { event: 'open', id: 'c1', data: '{"topics":["deliveries"]}' },
  { event: 'deliveries', id: undefined, data: '{"id":"dlv_ö"}' },
  { event: 'deliveries', id: 'c2', data: '{"id":\n"dlv_2"}' },
];

describe('the text of server-sent events', () => {
  it('is read the same wherever it is cut in two', () => {
    for (let at = 0; at <= TEXT.length; at += 1) {
      const read = createEventReader();
      expect([...read(TEXT.slice(0, at)), ...read(TEXT.slice(at))], `cut at ${at}`).toEqual(EVENTS);
    }
  });
  it('is read the same letter by letter', () => {
    const read = createEventReader();
    expect(TEXT.split('').flatMap((letter) => read(letter))).toEqual(EVENTS);
  });
});

describe('rows that the stream tells of', () => {
  const page = {
    items: [
      { id: 'a', updated_at: '2026-01-01T00:00:02.000Z', state: 'SENT' },
      { id: 'b', updated_at: '2026-01-01T00:00:00.000Z', state: 'WAITING' },
    ],
    next: 'n',
  };
  const keyOf = ({ id }: { readonly id: string }): string => id;
  it('are replaced in place, and other rows keep their object identity', () => {
    const now = withChanged(page, [{ id: 'b', updated_at: '2026-01-01T00:00:01.000Z', state: 'SENT' }], keyOf);
    expect(now.items.map(({ state }) => state)).toEqual(['SENT', 'SENT']);
    expect(now.items[0]).toBe(page.items[0]);
    expect(now.next).toBe('n');
  });
  it('leave the page unchanged if they are equal, not shown, or older than the shown row', () => {
    const older = { id: 'a', updated_at: '2026-01-01T00:00:01.000Z', state: 'SENDING' };
    expect(withChanged(page, [{ ...page.items[1]! }, { ...older, id: 'c' }, older], keyOf)).toBe(page);
  });
});

type Asked = {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly signal: AbortSignal;
  say(text: string): void;
  end(): void;
};

const SPANS = { settle: 1, firstRetry: 5, longestRetry: 20, silence: 600_000 };
const OPENED = 'event: open\nid: c1\ndata: {"topics":["deliveries"]}\n\n';
const told = (id: string, cursor: string): string => `event: deliveries\nid: ${cursor}\ndata: {"id":"${id}"}\n\n`;

describe('the stream of a workspace', () => {
  const asked: Asked[] = [];
  const heard: string[] = [];
  const leaving: (() => void)[] = [];
  let refuse: (() => Response) | null = null;
  afterEach(() => {
    for (const leave of leaving.splice(0)) leave();
    asked.length = 0;
    heard.length = 0;
    refuse = null;
  });

  const open = (spans = SPANS): LiveStream =>
    createLiveStream(
      'shop',
      async (url, { headers, signal }) => {
        const encoder = new TextEncoder();
        let writer: ReadableStreamDefaultController<Uint8Array> | undefined;
        const body = new ReadableStream<Uint8Array>({ start: (controller) => void (writer = controller) });
        signal?.addEventListener('abort', () => writer?.error(new DOMException('gone', 'AbortError')));
        asked.push({
          url,
          headers: headers as Record<string, string>,
          signal: signal!,
          say: (text) => writer?.enqueue(encoder.encode(text)),
          end: () => writer?.close(),
        });
        return refuse ? refuse() : new Response(body);
      },
      spans,
    );
  const follow = (stream: LiveStream, topic: LiveTopic): (() => void) => {
    const leave = stream.follow(topic, {
      changed: (rows) => heard.push(...rows.map((row) => `${topic} ${(row as { id: string }).id}`)),
      reset: () => heard.push(`${topic} anew`),
    });
    leaving.push(leave);
    return leave;
  };
  const attempt = async (count: number): Promise<Asked> => {
    await expect.poll(() => asked.length).toBeGreaterThanOrEqual(count);
    return asked[count - 1]!;
  };

  it('is shared by all followers, and reconnects after the last event id', async () => {
    const stream = open();
    follow(stream, 'deliveries');
    follow(stream, 'events');
    const first = await attempt(1);
    expect(first.url).toBe('/v1/workspaces/shop/live?topics=deliveries%2Cevents');
    expect(first.headers).not.toHaveProperty('last-event-id');
    first.say(OPENED);
    await expect.poll(() => stream.state()).toBe('live');
    // What came between reading the lists and this nobody knows.
    expect(heard).toEqual(['deliveries anew', 'events anew']);
    first.say(told('dlv_1', 'c2'));
    await expect.poll(() => heard.at(-1)).toBe('deliveries dlv_1');
    first.end();
    const second = await attempt(2);
    expect(second.headers).toMatchObject({ 'last-event-id': 'c2' });
    second.say(OPENED);
    await expect.poll(() => stream.state()).toBe('live');
    expect(heard).toHaveLength(3);
    second.say('event: reset\ndata: {"topic":"events"}\n\n');
    await expect.poll(() => heard.at(-1)).toBe('events anew');
  });

  it('is shown as lost with the time of the next try when it is refused, and recovers', async () => {
    refuse = () => new Response('', { status: 503 });
    const stream = open({ ...SPANS, longestRetry: 60 });
    follow(stream, 'deliveries');
    await expect.poll(() => stream.state()).toBe('lost');
    expect(stream.retryAt()).toBeGreaterThan(Date.now() - 1_000);
    refuse = null;
    const next = await attempt(2);
    next.say(OPENED);
    await expect.poll(() => stream.state()).toBe('live');
    expect(stream.retryAt()).toBeNull();
  });

  it('waits as long as a busy server wants', async () => {
    refuse = () => new Response('', { status: 429, headers: { 'retry-after': '2' } });
    const stream = open();
    follow(stream, 'deliveries');
    await expect.poll(() => stream.state()).toBe('lost');
    expect(stream.retryAt()! - Date.now()).toBeGreaterThan(1_500);
  });

  it('is closed after a silence, and opened again', async () => {
    const stream = open({ ...SPANS, silence: 30 });
    follow(stream, 'deliveries');
    await attempt(2);
    expect(asked[0]?.signal.aborted).toBe(true);
  });

  it('is reopened when another list follows, and closed when nobody follows or the page is hidden', async () => {
    const stream = open();
    const leave = follow(stream, 'deliveries');
    (await attempt(1)).say(OPENED);
    await expect.poll(() => stream.state()).toBe('live');
    follow(stream, 'drafts');
    const second = await attempt(2);
    expect(second.url).toContain('deliveries%2Cdrafts');
    expect(second.headers).toMatchObject({ 'last-event-id': 'c1' });
    second.say(OPENED);
    stream.look(false);
    expect(second.signal.aborted).toBe(true);
    expect(stream.state()).toBe('opening');
    stream.look(true);
    (await attempt(3)).say(OPENED);
    await expect.poll(() => stream.state()).toBe('live');
    leave();
    leaving.pop()?.();
    await expect.poll(() => asked[2]?.signal.aborted).toBe(true);
  });
});
