import { useCallback, useEffect, useSyncExternalStore } from 'react';
import type { Schemas } from './client.ts';
import {
  discardDraft,
  DRAFTS,
  readBoth,
  saveDraft,
  segmentOf,
  type Bodies,
  type Editable,
  type Published,
} from './draft-calls.ts';
import { DraftSession, type DraftState } from './draft-session.ts';
import { queryClient } from './query-client.ts';
import { addUnsavedCheck, formWorkSettled, hasUnfinished, hasWaitingChanges } from './unsaved.ts';

/** Stands for all visible workspaces in API paths. */
const EVERY_WORKSPACE = '-';

export type Fault = Schemas['Draft']['faults'][number];

/** A resource with its draft, for whoever edits it. */
export type EditedDraft<Kind extends Editable> = Pick<DraftState, 'saving' | 'saveError' | 'isMoved' | 'error'> & {
  readonly kind: Kind;
  readonly workspace: string;
  readonly name: string;
  readonly isLoading: boolean;
  /** Reads both once more. */
  readonly retry: () => void;
  /** As it counts now; null: there is none. */
  readonly resource: Published<Kind> | null;
  /** The body on screen. Null if there is none or it will be removed. */
  readonly body: Bodies[Kind] | null;
  readonly hasDraft: boolean;
  /** Names its newest saving; null: there is none yet. */
  readonly draftRevision: string | null;
  /** What keeps it from being published, as of the newest saving. */
  readonly faults: readonly Fault[];
  /** Publishing was tried: forms hold no fault back any more. */
  readonly isTried: boolean;
  /** Says that publishing was tried. */
  readonly tryPublishing: () => void;
  readonly warnings: readonly Fault[];
  /** Those at a path of keys, such as `rules.paid.when`, or below it. */
  readonly faultsAt: (path: string) => readonly Fault[];
  /** Conflict with a publication since the draft began. It must be resolved before publishing. */
  readonly conflict: Schemas['DraftConflict'] | null;
  /** Shows another body, and saves it 600 ms after the last change. A function gets what is shown. */
  readonly change: (next: Bodies[Kind] | null | ((before: Bodies[Kind]) => Bodies[Kind] | null)) => void;
  /** Saves what is on the screen at once. Resolves to true if the server has all of it. */
  readonly saveNow: () => Promise<boolean>;
  /** Returns the draft as it is now. Values from a render may be stale after an `await`. */
  readonly latest: () => Latest<Kind>;
  readonly keepMine: () => Promise<void>;
  readonly takeTheirs: () => Promise<void>;
  /** Answers whether the draft is gone. */
  readonly discard: () => Promise<boolean>;
  /** How the draft is put back once it is discarded; what was begun since stays, and the way rejects. */
  readonly wayBack: () => () => Promise<void>;
};

export type Latest<Kind extends Editable> = Pick<
  EditedDraft<Kind>,
  'body' | 'hasDraft' | 'draftRevision' | 'saving' | 'faults'
>;

const DRAFT_PLACE = 'carillon-draft ';
const keyOf = (kind: Editable, workspace: string, name: string): string => `${DRAFT_PLACE}${workspace}/${kind}/${name}`;

/** All parts of the page that show one draft show the same text. */
const sessions = new Map<string, DraftSession>();
addUnsavedCheck(() =>
  [...sessions.values()].some((session) => session.snapshot().saving !== 'saved' || session.snapshot().isMoved),
);

function sessionOf(kind: Editable, workspace: string, name: string): DraftSession {
  const key = keyOf(kind, workspace, name);
  const known = sessions.get(key);
  if (known) return known;
  const address = { kind, workspace, name };
  const session = new DraftSession({
    read: () => readBoth(address),
    save: (saving) => saveDraft(address, saving),
    discard: (revision) => discardDraft(address, revision),
    kept: {
      get: () => tryStorage(() => sessionStorage.getItem(key)) ?? null,
      set(text) {
        tryStorage(() => {
          if (text === null) sessionStorage.removeItem(key);
          else sessionStorage.setItem(key, text);
        });
      },
    },
    changed: () => void queryClient.invalidateQueries({ queryKey: [DRAFTS, workspace] }),
  });
  sessions.set(key, session);
  return session;
}

/** A browser may refuse to keep anything, or have no room: then what is typed is as safe as the page. */
function tryStorage<Value>(act: () => Value): Value | undefined {
  try {
    return act();
  } catch {
    return undefined;
  }
}

/** After drafts were published or thrown away elsewhere: those that are shown or were shown are read anew. */
export function reloadDrafts(workspace: string): void {
  // A plan names its savings: what is left makes another one, and a plan of drafts that are gone would be refused.
  void queryClient.invalidateQueries({ queryKey: [DRAFTS, workspace], refetchType: 'none' });
  void queryClient.invalidateQueries({ queryKey: [DRAFTS, workspace], exact: true });
  for (const [key, session] of sessions) {
    if (key.startsWith(`${DRAFT_PLACE}${workspace}/`)) void session.load();
  }
}

/**
 * Saves everything pending before the user leaves the page. Returns true if the server has all of it, including text
 * that a reload left in the tab.
 */
export async function saveAllDrafts(): Promise<boolean> {
  await formWorkSettled();
  const saved = await Promise.all([...sessions.values()].map((session) => session.saveNow()));
  const isKept = tryStorage(() => Object.keys(sessionStorage).some((key) => key.startsWith(DRAFT_PLACE))) ?? false;
  return saved.every(Boolean) && !isKept && !hasWaitingChanges();
}

/**
 * Invalidates the workspace's configuration, however recently it was read, because a list from a second ago may precede
 * a publication.
 */
export function reloadConfiguration(workspace: string): void {
  reloadDrafts(workspace);
  void queryClient.invalidateQueries({
    predicate: ({ queryKey: [path, of] }) =>
      path === '/v1/workspaces' || (path !== DRAFTS && (of === workspace || of === EVERY_WORKSPACE)),
  });
}

/** Drafts whose publishing was tried, by the key of their session. */
const tried = new Set<string>();
const triedListeners = new Set<() => void>();
const subscribeToTried = (listener: () => void): (() => void) => {
  triedListeners.add(listener);
  return () => void triedListeners.delete(listener);
};
function setTried(key: string, isTried: boolean): void {
  if (tried.has(key) === isTried) return;
  if (isTried) tried.add(key);
  else tried.delete(key);
  for (const listener of triedListeners) listener();
}

/** Says that publishing these drafts was tried: their forms show all faults from now on. */
export function tryPublishing(drafts: readonly { kind: string; workspace: string; name: string }[]): void {
  for (const { kind, workspace, name } of drafts) setTried(keyOf(segmentOf(kind), workspace, name), true);
}

const isAtOrBelow = (path: string, at: string): boolean =>
  path === at || path.startsWith(`${at}.`) || path.startsWith(`${at}[`);

const latestOf = <Kind extends Editable>({ body, draft, saving }: DraftState): Latest<Kind> => ({
  body: body as Bodies[Kind] | null,
  hasDraft: draft !== null || saving !== 'saved',
  draftRevision: draft?.revision ?? null,
  saving,
  faults: draft?.faults ?? [],
});

/**
 * The draft of a resource: loads both, saves 600 ms after the last change and never over somebody else's saving, keeps what is not
 * acknowledged in the tab. `name` is empty of a workspace's own settings.
 */
export function useDraft<Kind extends Editable>(kind: Kind, workspace: string, name: string): EditedDraft<Kind> {
  const session = sessionOf(kind, workspace, name);
  const state = useSyncExternalStore(session.subscribe, session.snapshot);
  useEffect(() => void session.load(), [session]);
  const { draft } = state;
  const key = keyOf(kind, workspace, name);
  const isTried = useSyncExternalStore(subscribeToTried, () => tried.has(key));
  const isGone = state.isLoaded && draft === null && state.saving === 'saved';
  useEffect(() => {
    if (isGone) setTried(key, false);
  }, [isGone, key]);
  const latest = latestOf<Kind>(state);
  const { faults } = latest;
  const form = `${workspace}/${name}.`;
  const change = useCallback<EditedDraft<Kind>['change']>(
    (next) => {
      const before = session.snapshot().body as Bodies[Kind];
      session.change(typeof next === 'function' ? next(before) : next);
    },
    [session],
  );
  return {
    kind,
    workspace,
    name,
    isLoading: !state.isLoaded && state.error === null,
    error: state.error,
    retry: () => void session.load(),
    resource: state.resource as Published<Kind> | null,
    ...latest,
    latest: () => latestOf(session.snapshot()),
    saveError: state.saveError,
    isMoved: state.isMoved,
    isTried,
    tryPublishing: () => setTried(key, true),
    warnings: draft?.warnings ?? [],
    faultsAt: (path) => faults.filter((fault) => isAtOrBelow(fault.path, path)),
    conflict: draft?.conflict ?? null,
    change,
    async saveNow() {
      await formWorkSettled();
      return (await session.saveNow()) && !hasUnfinished(form) && !hasWaitingChanges(form);
    },
    keepMine: () => formWorkSettled().then(() => session.keepMine()),
    takeTheirs: () => formWorkSettled().then(() => session.takeTheirs()),
    discard: () => formWorkSettled().then(() => session.discard()),
    wayBack: () => session.wayBack(),
  };
}
