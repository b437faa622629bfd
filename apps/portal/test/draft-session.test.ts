import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { Refusal } from '../src/api/client.ts';
import type { Draft, Published, Saving } from '../src/api/draft-calls.ts';
import { DraftSession, SAVES_AFTER, TRIES_AGAIN } from '../src/api/draft-session.ts';

/** The two places that a draft has on the server, with the rules of both. */
class Server {
  resource: Published | null = { kind: 'notification', number: 7, body: { name: 'old' } } as unknown as Published;
  draft: Draft | null = null;
  kept: string | null = null;
  /** Takes no saving. */
  isAway = false;
  /** Answers no reading. */
  isSilent = false;
  readonly savings: Saving[] = [];
  discarded = 0;
  /** Holds a saving back until it is let go. */
  gate: Promise<void> = Promise.resolve();

  put(body: unknown, basedOn: number | null = 7): Draft {
    const state = basedOn === (this.resource?.number ?? null) ? 'open' : 'conflict';
    this.draft = { body, revision: `r${Math.random()}`, based_on: basedOn, state, faults: [] } as unknown as Draft;
    return this.draft;
  }
  open(): DraftSession {
    const demand = (revision: string | null): void => {
      if (this.isAway) throw new Refusal('away', 0);
      if ((this.draft?.revision ?? null) !== revision) throw new Refusal('moved', 412);
    };
    return new DraftSession({
      read: async () => {
        if (this.isSilent) throw new Refusal('away', 0);
        return { resource: this.resource, draft: this.draft };
      },
      save: async (saving) => {
        await this.gate;
        demand(saving.revision);
        this.savings.push(saving);
        return this.put(saving.body, saving.basedOn === undefined ? this.draft?.based_on : saving.basedOn);
      },
      discard: async (revision) => {
        demand(revision);
        this.discarded += 1;
        this.draft = null;
      },
      kept: { get: () => this.kept, set: (text) => void (this.kept = text) },
      changed: () => undefined,
    });
  }
}

describe('a draft as one tab edits it', () => {
  let server: Server;
  let session: DraftSession;
  const shown = () => session.snapshot();
  const pass = (time: number) => vi.advanceTimersByTimeAsync(time);
  beforeEach(async () => {
    vi.useFakeTimers();
    server = new Server();
    session = server.open();
    await session.load();
  });
  afterEach(() => void vi.useRealTimers());

  it('shows the draft, or the published version if there is no draft', async () => {
    expect(shown().body).toEqual({ name: 'old' });
    server.put({ name: 'draft' });
    await session.load();
    expect(shown()).toMatchObject({ body: { name: 'draft' }, saving: 'saved' });
  });

  it('retries a failed read while a screen shows it', async () => {
    server.isSilent = true;
    const other = server.open();
    const leave = other.subscribe(() => undefined);
    await other.load();
    expect(other.snapshot()).toMatchObject({ isLoaded: false, error: { message: 'away' } });
    await pass(TRIES_AGAIN);
    server.isSilent = false;
    await pass(TRIES_AGAIN);
    expect(other.snapshot()).toMatchObject({ isLoaded: true, error: null, body: { name: 'old' } });
    leave();
    server.isSilent = true;
    const left = server.open();
    await left.load();
    server.isSilent = false;
    await pass(TRIES_AGAIN);
    expect(left.snapshot().isLoaded).toBe(false);
  });

  it('is saved once, 600 ms after the last key, based on the loaded version', async () => {
    session.change({ name: 'a' });
    await pass(SAVES_AFTER - 1);
    session.change({ name: 'ab' });
    await pass(SAVES_AFTER - 1);
    expect(server.savings).toEqual([]);
    expect(shown().saving).toBe('waiting');
    await pass(1);
    expect(server.savings).toEqual([{ body: { name: 'ab' }, revision: null, basedOn: 7 }]);
    expect(shown().saving).toBe('saved');
    session.change({ name: 'abc' });
    await pass(SAVES_AFTER);
    expect(server.savings[1]).toMatchObject({ body: { name: 'abc' }, basedOn: undefined });
  });

  it('saves text typed during a save after that save, one save at a time', async () => {
    let letGo = (): void => undefined;
    server.gate = new Promise((settle) => void (letGo = settle));
    session.change({ name: 'a' });
    await pass(SAVES_AFTER);
    session.change({ name: 'ab' });
    await pass(SAVES_AFTER * 3);
    expect(server.savings).toEqual([]);
    letGo();
    await pass(SAVES_AFTER);
    expect(server.savings.map(({ body }) => body)).toEqual([{ name: 'a' }, { name: 'ab' }]);
    expect(shown()).toMatchObject({ body: { name: 'ab' }, saving: 'saved' });
    expect(server.kept).toBeNull();
  });

  it('keeps unacknowledged text in the tab, and saves it after a reload', async () => {
    server.isAway = true;
    session.change({ name: 'typed' });
    await pass(SAVES_AFTER);
    expect(shown().saving).toBe('failed');
    expect(server.kept).not.toBeNull();
    session = server.open();
    await session.load();
    expect(shown().body).toEqual({ name: 'typed' });
    await pass(0);
    server.isAway = false;
    await pass(TRIES_AGAIN);
    expect(server.draft?.body).toEqual({ name: 'typed' });
    expect(server.kept).toBeNull();
  });

  it('never overwrites a save by another person, and shows both until one is chosen', async () => {
    session.change({ name: 'mine' });
    server.put({ name: 'theirs' });
    await pass(SAVES_AFTER);
    expect(shown()).toMatchObject({ isMoved: true, body: { name: 'mine' }, draft: { body: { name: 'theirs' } } });
    session.change({ name: 'mine!' });
    await pass(SAVES_AFTER * 10);
    expect(server.draft?.body).toEqual({ name: 'theirs' });
    await session.keepMine();
    expect(server.draft?.body).toEqual({ name: 'mine!' });
    expect(shown()).toMatchObject({ isMoved: false, saving: 'saved' });

    session.change({ name: 'more' });
    server.put({ name: 'theirs again' });
    await pass(SAVES_AFTER);
    await session.takeTheirs();
    expect(shown()).toMatchObject({ isMoved: false, body: { name: 'theirs again' } });
    expect(server.kept).toBeNull();
  });

  it('treats equal text from two tabs as no conflict', async () => {
    session.change({ name: 'same' });
    server.put({ name: 'same' });
    await pass(SAVES_AFTER);
    expect(shown()).toMatchObject({ isMoved: false, saving: 'saved' });
  });

  it('creates no draft for text equal to the published version', async () => {
    session.change({ name: 'new' });
    await pass(SAVES_AFTER);
    session.change({ name: 'old' });
    await pass(SAVES_AFTER);
    expect(server.draft).toBeNull();
    expect(server.discarded).toBe(1);
  });

  it('overwrites a version published meanwhile only after the person chose to', async () => {
    server.put({ name: 'mine' }, 6);
    await session.load();
    await session.keepMine();
    expect(server.savings.at(-1)).toMatchObject({ body: { name: 'mine' }, basedOn: 7 });
    server.put({ name: 'mine' }, 6);
    await session.load();
    await session.takeTheirs();
    expect(shown()).toMatchObject({ body: { name: 'old' }, draft: null });
  });

  it('saves text typed while a conflict was resolved with "keep mine"', async () => {
    server.put({ name: 'mine' }, 6);
    await session.load();
    let letGo = (): void => undefined;
    server.gate = new Promise((settle) => void (letGo = settle));
    const kept = session.keepMine();
    await pass(0);
    session.change({ name: 'mine, and more' });
    await pass(SAVES_AFTER * 2);
    letGo();
    await kept;
    await pass(SAVES_AFTER);
    expect(server.draft?.body).toEqual({ name: 'mine, and more' });
    expect(shown()).toMatchObject({ body: { name: 'mine, and more' }, saving: 'saved' });
    expect(server.kept).toBeNull();
  });

  it('resolves saveNow only after the save under way and the remaining text are stored', async () => {
    let letGo = (): void => undefined;
    server.gate = new Promise((settle) => void (letGo = settle));
    session.change({ name: 'a' });
    await pass(SAVES_AFTER);
    session.change({ name: 'ab' });
    const all = session.saveNow();
    letGo();
    await all;
    expect(server.draft?.body).toEqual({ name: 'ab' });
  });

  it('stays discarded if it was discarded during a save', async () => {
    let letGo = (): void => undefined;
    server.gate = new Promise((settle) => void (letGo = settle));
    session.change({ name: 'a' });
    await pass(SAVES_AFTER);
    const gone = session.discard();
    letGo();
    await gone;
    await pass(SAVES_AFTER * 3);
    expect(server.draft).toBeNull();
    expect(shown()).toMatchObject({ body: { name: 'old' }, draft: null, saving: 'saved', saveError: null });
  });

  it('can be restored after discarding, with its text and its base version', async () => {
    server.put({ name: 'draft' }, 7);
    await session.load();
    session.change({ name: 'draft and a last word' });
    const putBack = session.wayBack();
    await session.discard();
    server.resource = { kind: 'notification', number: 8, body: { name: 'newer' } } as unknown as Published;
    await putBack();
    expect(server.draft).toMatchObject({ body: { name: 'draft and a last word' }, based_on: 7 });
    expect(shown()).toMatchObject({ body: { name: 'draft and a last word' }, saving: 'saved' });
  });

  it('is not restored over text typed after discarding', async () => {
    server.put({ name: 'draft' }, 7);
    await session.load();
    const putBack = session.wayBack();
    await session.discard();
    session.change({ name: 'typed anew' });
    await expect(putBack()).rejects.toThrow('there is a newer draft');
    expect(server.draft?.body).toEqual({ name: 'typed anew' });
    expect(shown()).toMatchObject({ body: { name: 'typed anew' }, isMoved: false });
  });

  it('creates a resource that does not exist yet, and can be discarded again', async () => {
    server.resource = null;
    await session.load();
    expect(shown()).toMatchObject({ body: null, isLoaded: true });
    session.change({ name: 'first' });
    await session.saveNow();
    expect(server.savings).toEqual([{ body: { name: 'first' }, revision: null, basedOn: null }]);
    await session.discard();
    expect(shown()).toMatchObject({ body: null, draft: null });
  });

  it('saves at once when its last screen is left', async () => {
    const leave = session.subscribe(() => undefined);
    session.change({ name: 'last key' });
    leave();
    await pass(0);
    expect(server.draft?.body).toEqual({ name: 'last key' });
  });
});
