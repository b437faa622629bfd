/** Does the contrary of what was done. */
export type Undo = () => Promise<unknown>;

/** What was just done, in a sentence; null: it cannot be taken back here. */
export type Notice = {
  readonly id: number;
  readonly words: string;
  readonly undo: Undo | null;
  /** It is being taken back. */
  readonly isBusy: boolean;
};

let notices: readonly Notice[] = [];
let count = 0;
const listeners = new Set<() => void>();

export const currentNotices = (): readonly Notice[] => notices;
export const subscribeToNotices = (listener: () => void): (() => void) => {
  listeners.add(listener);
  return () => void listeners.delete(listener);
};

function set(next: readonly Notice[]): void {
  notices = next;
  for (const listener of listeners) listener();
}
const change = (id: number, next: Partial<Notice>): void =>
  set(notices.map((one) => (one.id === id ? { ...one, ...next } : one)));
export const dropNotice = (id: number): void => set(notices.filter((one) => one.id !== id));

/** Says what was done, and for a while how it is taken back. What went wrong stays where it happened instead. */
export function say(words: string, undo: Undo | null = null): void {
  count += 1;
  set([...notices, { id: count, words, undo, isBusy: false }]);
}

/** The contrary of what was done, and what has to follow it however it ends: what is shown is old. */
export const undoing =
  (act: () => Promise<unknown>, after: () => unknown): Undo =>
  async () => {
    try {
      await act();
    } finally {
      await after();
    }
  };

/** Takes back what a notice tells of, once; where that is refused it says why, and can be tried again. */
export async function undoNotice(id: number): Promise<void> {
  const notice = notices.find((one) => one.id === id);
  if (!notice?.undo || notice.isBusy) return;
  change(id, { isBusy: true });
  try {
    await notice.undo();
    change(id, { words: 'Undone.', undo: null, isBusy: false });
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    change(id, { words: `It could not be undone: ${why}`, isBusy: false });
  }
}

/** The newest that can be taken back. */
export function undoNewest(): void {
  const newest = notices.findLast(({ undo }) => undo !== null);
  if (newest) void undoNotice(newest.id);
}
