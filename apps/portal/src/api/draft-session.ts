import { isAway, Refusal } from './client.ts';
import type { Draft, Published, Saving } from './draft-calls.ts';
import { isSame } from './same.ts';

/** In milliseconds: so long after the last key is a draft saved. */
export const SAVES_AFTER = 600;
/** Milliseconds after an unanswered save or read until the next attempt. */
export const TRIES_AGAIN = 3_000;

/** A resource as it counts and its draft; null: there is none. */
export type Read = { readonly resource: Published | null; readonly draft: Draft | null };

/** Where a draft is read and written: the server's, in earnest. */
export type DraftStore = {
  readonly read: () => Promise<Read>;
  readonly save: (saving: Saving) => Promise<Draft>;
  readonly discard: (revision: string) => Promise<void>;
  /** Text that the server has not taken yet, kept by the browser's tab; it outlives a reload and the end of a session. */
  readonly kept: { readonly get: () => string | null; readonly set: (text: string | null) => void };
  /** Something changed that lists of drafts show. */
  readonly changed: () => void;
};

export type DraftState = {
  /** False until both were read. */
  readonly isLoaded: boolean;
  /** Why it could not be read. */
  readonly error: Error | null;
  readonly resource: Published | null;
  readonly draft: Draft | null;
  /**
   * The body on screen: unsaved text, else the draft, else the published resource. Null if there is none or it will be
   * removed.
   */
  readonly body: unknown;
  /** `waiting` for the last key, `saving`, `failed` (see `saveError`; what nobody answered is tried again), else `saved`. */
  readonly saving: 'saved' | 'waiting' | 'saving' | 'failed';
  readonly saveError: Error | null;
  /**
   * True if another person saved, published or discarded the draft meanwhile. Nothing is saved until the user chooses a
   * version.
   */
  readonly isMoved: boolean;
};

type Kept = { readonly body: unknown; readonly revision: string | null; readonly basedOn: number | null };

/**
 * A draft as edited in one tab. Unsaved text stays in the tab until the server acknowledges it. Saves run after a
 * pause, one at a time, and never overwrite another person's save. A body equal to the published one needs no draft, so
 * the draft is discarded.
 */
export class DraftSession {
  #state: DraftState = {
    isLoaded: false,
    error: null,
    resource: null,
    draft: null,
    body: null,
    saving: 'saved',
    saveError: null,
    isMoved: false,
  };
  readonly #store: DraftStore;
  readonly #listeners = new Set<() => void>();
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** Typed, and not acknowledged. */
  #isDirty = false;
  #isBusy = false;
  /** Ends with the saving that is under way; never fails. */
  #underWay: Promise<void> | null = null;
  #loading: Promise<void> | null = null;

  constructor(store: DraftStore) {
    this.#store = store;
  }

  readonly snapshot = (): DraftState => this.#state;
  readonly subscribe = (listener: () => void): (() => void) => {
    this.#listeners.add(listener);
    return () => {
      this.#listeners.delete(listener);
      // The user left the screen, so no further key follows.
      if (this.#listeners.size === 0 && this.#state.saving === 'waiting') void this.saveNow();
    };
  };

  /** Reads what is there. Text that was not acknowledged stays, and is saved where nothing else changed. */
  load(): Promise<void> {
    this.#loading ??= this.#load().finally(() => {
      this.#loading = null;
    });
    return this.#loading;
  }

  async #load(): Promise<void> {
    if (this.#isBusy) return;
    let read: Read;
    try {
      read = await this.#store.read();
    } catch (error) {
      if (error instanceof Error) this.#set({ error });
      if (mayPass(error)) this.#readIn(TRIES_AGAIN);
      return;
    }
    const { resource, draft } = read;
    // It was saved, or typed into, while it was read: what was read may be older.
    if (this.#isBusy || (this.#isDirty && this.#state.isLoaded)) return;
    const known = {
      isLoaded: true,
      error: null,
      resource,
      draft,
      isMoved: false,
      saving: 'saved',
      saveError: null,
    } as const;
    const there = draft ? draft.body : (resource?.body ?? null);
    const kept = readKept(this.#store.kept.get());
    if (!kept || isSame(kept.body, there)) {
      this.#keep(null);
      this.#set({ ...known, body: there });
      return;
    }
    this.#isDirty = true;
    const isMoved =
      kept.revision !== (draft?.revision ?? null) || (!draft && kept.basedOn !== (resource?.number ?? null));
    this.#set({ ...known, body: kept.body, isMoved });
    if (!isMoved) this.#saveIn(0);
  }

  /** Changes what is shown, and saves it after a pause. */
  change(body: unknown): void {
    if (!this.#state.isLoaded || isSame(body, this.#state.body)) return;
    this.#isDirty = true;
    this.#set({ body });
    this.#keep(body);
    if (!this.#state.isMoved) this.#saveIn(SAVES_AFTER);
  }

  /** Saves what was typed at once, after the saving that is under way; answers whether the server has all that was typed until now. */
  async saveNow(): Promise<boolean> {
    clearTimeout(this.#timer);
    await this.#rest();
    if (this.#isBusy || !this.#isDirty || this.#state.isMoved) return !this.#isDirty;
    const { body, draft, resource } = this.#state;
    await this.#save(body, () => this.#write(body, draft, resource));
    return this.#state.saving !== 'failed' && !this.#state.isMoved;
  }

  /** Until no saving is under way: two at once would name the same revision, and one of them would be refused. */
  async #rest(): Promise<void> {
    while (this.#underWay) await this.#underWay;
  }

  #save(body: unknown, write: () => Promise<Draft | null>): Promise<void> {
    const underWay = this.#saveOnce(body, write).finally(() => {
      this.#underWay = null;
    });
    this.#underWay = underWay;
    return underWay;
  }

  /** What is typed while the server takes `body` is saved after it. */
  async #saveOnce(body: unknown, write: () => Promise<Draft | null>): Promise<void> {
    this.#isBusy = true;
    this.#set({ saving: 'saving' });
    try {
      const saved = await write();
      this.#isBusy = false;
      const isAll = isSame(this.#state.body, body);
      this.#isDirty = !isAll;
      this.#set({ draft: saved, saving: isAll ? 'saved' : 'waiting', saveError: null });
      this.#keep(isAll ? null : this.#state.body);
      this.#store.changed();
      if (!isAll) this.#saveIn(SAVES_AFTER);
    } catch (error) {
      this.#isBusy = false;
      if (!(error instanceof Error)) throw error;
      if (error instanceof Refusal && error.status === 412) await this.#meet();
      else {
        this.#set({ saving: 'failed', saveError: error });
        if (mayPass(error)) this.#saveIn(TRIES_AGAIN, 'failed');
      }
    }
  }

  async #write(body: unknown, draft: Draft | null, resource: Published | null): Promise<Draft | null> {
    if (resource !== null && isSame(body, resource.body)) {
      if (draft) await this.#store.discard(draft.revision);
      return null;
    }
    if (body === null && resource === null) {
      if (draft) await this.#store.discard(draft.revision);
      return null;
    }
    const basedOn = draft ? undefined : (resource?.number ?? null);
    return this.#store.save({ body, revision: draft?.revision ?? null, basedOn });
  }

  /** Somebody was faster. What is theirs is read; what is ours stays until one was chosen. */
  async #meet(): Promise<void> {
    try {
      const { resource, draft } = await this.#store.read();
      const there = draft ? draft.body : (resource?.body ?? null);
      const isAgreed = isSame(there, this.#state.body);
      this.#isDirty = !isAgreed;
      this.#set({ resource, draft, isMoved: !isAgreed, saving: isAgreed ? 'saved' : 'waiting', saveError: null });
      this.#keep(isAgreed ? null : this.#state.body);
      this.#store.changed();
    } catch (error) {
      if (error instanceof Error) this.#set({ saving: 'failed', saveError: error });
      this.#saveIn(TRIES_AGAIN, 'failed');
    }
  }

  /** Saves what is shown over what somebody else made, having seen it: over their draft, or over what they published. */
  async keepMine(): Promise<void> {
    await this.#rest();
    clearTimeout(this.#timer);
    const { body, draft, resource } = this.#state;
    this.#isDirty = true;
    this.#set({ isMoved: false });
    if (draft?.state !== 'conflict') {
      await this.saveNow();
      return;
    }
    const basedOn = resource?.number ?? null;
    await this.#save(body, () => this.#store.save({ body, revision: draft.revision, basedOn }));
  }

  /** Shows what somebody else made, and forgets what was typed. */
  async takeTheirs(): Promise<void> {
    if (this.#state.draft?.state === 'conflict') {
      await this.discard();
      return;
    }
    await this.#rest();
    this.#forget();
    return this.#reload();
  }

  /** Forgets what was typed and takes the draft away: what is published is shown. Answers whether it is gone. */
  async discard(): Promise<boolean> {
    // A saving that ends after it would bring back what was thrown away.
    await this.#rest();
    const { draft } = this.#state;
    this.#forget();
    const isGone = draft === null || (await this.#takeAway(draft.revision));
    await this.#reload();
    return isGone;
  }

  /** How the draft is put back once it is discarded: as it is shown now, over what it is based on. Rejects where another was begun since. */
  wayBack(): () => Promise<void> {
    const { body, draft, resource } = this.#state;
    const basedOn = draft ? draft.based_on : (resource?.number ?? null);
    return async () => {
      // What was typed since is saved first, so that it is refused here and not there.
      await this.saveNow();
      try {
        await this.#store.save({ body, revision: null, basedOn });
      } catch (error) {
        if (error instanceof Refusal && error.status === 412) throw new Error(OTHER_BEGUN, { cause: error });
        throw error;
      }
      this.#store.changed();
      await this.#reload();
    };
  }

  /** What was read before is older than what was just done. */
  async #reload(): Promise<void> {
    await this.#loading;
    await this.load();
  }

  async #takeAway(revision: string): Promise<boolean> {
    this.#isBusy = true;
    this.#set({ saving: 'saving' });
    try {
      await this.#store.discard(revision);
      this.#forget();
      this.#set({ draft: null });
      return true;
    } catch (error) {
      if (!(error instanceof Error)) throw error;
      this.#set({ saving: 'failed', saveError: error });
      return false;
    } finally {
      this.#isBusy = false;
      this.#store.changed();
    }
  }

  #forget(): void {
    clearTimeout(this.#timer);
    this.#isDirty = false;
    this.#keep(null);
    this.#set({ isMoved: false, saving: 'saved', saveError: null });
  }

  #saveIn(pause: number, saving: 'waiting' | 'failed' = 'waiting'): void {
    clearTimeout(this.#timer);
    if (!this.#isBusy) this.#set({ saving });
    this.#timer = setTimeout(() => void this.saveNow(), pause);
  }

  /** Reads once more, as long as somebody looks. */
  #readIn(pause: number): void {
    setTimeout(() => {
      if (this.#listeners.size > 0) void this.load();
    }, pause);
  }

  #keep(body: unknown): void {
    if (!this.#isDirty) return this.#store.kept.set(null);
    const { draft, resource } = this.#state;
    const kept: Kept = { body, revision: draft?.revision ?? null, basedOn: resource?.number ?? null };
    this.#store.kept.set(JSON.stringify(kept));
  }

  #set(change: Partial<DraftState>): void {
    this.#state = { ...this.#state, ...change };
    for (const listener of this.#listeners) listener();
  }
}

const OTHER_BEGUN = 'there is a newer draft. Discard that one first to restore this one.';

/** Whether the server may say something else in a moment. */
const mayPass = (error: unknown): boolean => error instanceof Refusal && (isAway(error) || error.status >= 500);

function readKept(text: string | null): Kept | null {
  if (text === null) return null;
  try {
    return JSON.parse(text) as Kept;
  } catch {
    return null;
  }
}
