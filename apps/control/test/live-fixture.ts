import { createDirectWire, createMemoryBackend } from '@carillon/testing/memory';
import { TOKEN, publishWishes } from './control-fixture.ts';
import { openPeople } from './people-fixture.ts';

/** The API listening on a port of its own, over stores in memory, with two workspaces. */
export async function openLive() {
  const backend = createMemoryBackend({ clock: { now: () => Date.now() }, partitions: 1 }).connect(createDirectWire());
  const { ledger, readModels, inbox, drafts } = backend;
  const troubles: unknown[] = [];
  const watch = { trouble: (_where: string, error: unknown) => troubles.push(error) } as never;
  const fixture = await openPeople({ ledger, readModels, inbox, drafts, watch });
  await publishWishes(
    fixture,
    ['shop', 'club'].map((workspace) => ({ ref: { kind: 'workspace', workspace, name: '' }, body: {} })),
  );
  const { address } = await fixture.control.listen();
  return {
    ...fixture,
    ledger,
    readModels,
    inbox,
    drafts,
    address,
    troubles,
    close: () => fixture.control.close(1_000),
  };
}
export type LiveFixture = Awaited<ReturnType<typeof openLive>>;

export type Told = { readonly event: string; readonly id: string | null; readonly data: Record<string, unknown> };

export type Follower = {
  readonly status: number;
  readonly headers: Headers;
  readonly told: Told[];
  /** When the stream ended; null: it goes on. */
  endedAt(): number | null;
  leave(): void;
};

/** Reads a stream of server-sent events until it ends or is left. */
export async function follow(url: string, headers: Readonly<Record<string, string>> = {}): Promise<Follower> {
  const leaving = new AbortController();
  const answer = await fetch(url, {
    headers: { authorization: `Bearer ${TOKEN}`, ...headers },
    signal: leaving.signal,
  });
  const told: Told[] = [];
  let endedAt: number | null = null;
  void (async () => {
    let text = '';
    try {
      for await (const piece of (answer.body ?? []) as AsyncIterable<Uint8Array>) {
        text += Buffer.from(piece).toString('utf8');
        const events = text.split('\n\n');
        text = events.pop() ?? '';
        for (const one of events) if (one.includes('event: ')) told.push(readEvent(one));
      }
    } catch {
      // Left, or cut off.
    }
    endedAt = Date.now();
  })();
  return { status: answer.status, headers: answer.headers, told, endedAt: () => endedAt, leave: () => leaving.abort() };
}

function readEvent(text: string): Told {
  const field = (name: string): string | null =>
    text
      .split('\n')
      .find((line) => line.startsWith(`${name}: `))
      ?.slice(name.length + 2) ?? null;
  return {
    event: field('event') ?? '',
    id: field('id'),
    data: JSON.parse(field('data') ?? '{}') as Record<string, unknown>,
  };
}
