import { useEffect, useEffectEvent, useRef, useState } from 'react';
import { TRIES_AGAIN } from '../../api/draft-session.ts';
import { formWorkSettled, trackFormWork, useUnsaved } from '../../api/unsaved.ts';
import type { DroppedChange } from './dropped-changes.tsx';
import { keepChanges, mayBeTakenLater, readKeptChanges, type ReplacedPart } from './kept-changes.ts';
import { checkExpression, type FormChange, type Place } from './queries.ts';

/** In milliseconds: the least time between two calls that write the same part, so that a fast typist stays far below the limit of calls. */
const BETWEEN_KEYS = 250;

export type FormChanges = {
  /** Why the newest change was refused, and the address of the part that it replaces; null: it was accepted. */
  readonly fault: { readonly why: string; readonly at: string | null } | null;
  /** Whether changes still wait to be written into the expression. */
  readonly isWorking: boolean;
  /** Changes from before a session ended, or from while nobody answered, that no longer fit. */
  readonly dropped: readonly DroppedChange[];
  readonly dismissDropped: () => void;
  readonly apply: (change: FormChange) => void;
};

const MOVED = 'Somebody else changed the condition in the meantime.';

/** The address of the part that a change replaces; null: it changes the form in another way. */
const replacedBy = (change: FormChange | undefined): string | null =>
  change?.kind === 'replace' ? change.at.join() : null;

/**
 * Appends a change to those that wait. A replacement of the part that the last waiting change replaces takes its place: of a word that is
 * typed only the newest letters count. `busy` is being written now and stays.
 */
export function withChange(
  waiting: readonly FormChange[],
  change: FormChange,
  busy: FormChange | null,
): readonly FormChange[] {
  const last = waiting.at(-1);
  const part = replacedBy(change);
  const isNewer = part !== null && last !== busy && replacedBy(last) === part;
  return [...(isNewer ? waiting.slice(0, -1) : waiting), change];
}

/**
 * Returns the expression that a change applies to. A second replacement of the same part applies to the expression before the
 * first one, so that text typed letter by letter replaces one part, even if it parsed differently on the way.
 */
export const startOf = (change: FormChange, source: string, replaced: ReplacedPart | null): string =>
  replaced !== null && replaced.to === source && replacedBy(change) === replaced.at ? replaced.from : source;

export type ChangedForm = {
  readonly workspace: string;
  /** Which form it is, among all that a browser's tab edits. */
  readonly form: string;
  readonly source: string;
  readonly place: Place;
  /** Whether the form of the text is there. */
  readonly isRead: boolean;
  /** Whether a line has the focus. */
  readonly isTyping: boolean;
  readonly onWrite: (source: string) => void;
};

/** Writes changes of a form into its expression, one after another; the server makes the text. */
export function useFormChanges(given: ChangedForm): FormChanges {
  const { workspace, form, source, place, isRead, isTyping, onWrite } = given;
  const [fault, setFault] = useState<{ readonly of: FormChange; readonly why: string } | null>(null);
  const [isWorking, setWorking] = useState(false);
  const [dropped, setDropped] = useState<readonly DroppedChange[]>([]);
  // A refused line is on the screen and not in the expression.
  useUnsaved(form, fault !== null && fault.of.kind === 'replace');
  const newest = useRef(source);
  useEffect(() => {
    newest.current = source;
  }, [source]);
  const queue = useRef(Promise.resolve());
  const waiting = useRef<readonly FormChange[]>([]);
  const busy = useRef<FormChange | null>(null);
  const replaced = useRef<ReplacedPart | null>(null);
  const lastCall = useRef(0);
  const takenUp = useRef<readonly FormChange[]>([]);
  const again = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => () => clearTimeout(again.current), []);
  useEffect(() => {
    // Once the lines are drawn from the new expression, an address names another part.
    if (!isTyping && !isWorking) replaced.current = null;
  }, [isTyping, isWorking]);

  /** Lists a refused change of an earlier visit, so that the user can redo it. A change of this visit is still in its line. */
  function refuse(change: FormChange, why: string): void {
    if (takenUp.current.includes(change)) setDropped((before) => [...before, { change, why }]);
    else setFault({ of: change, why });
  }
  async function write(change: FormChange): Promise<void> {
    const from = startOf(change, newest.current, replaced.current);
    const text = from.trim() === 'true' ? '' : from;
    lastCall.current = performance.now();
    const { source: next, faults } = await checkExpression(workspace, { source: text, place, change });
    const to = next.trim() === '' ? '' : next;
    const [first] = faults;
    // A form without lines is no valid expression, and the last line may still be removed.
    if (first && to !== '') return refuse(change, `${first.message}. ${first.fix}`);
    setFault(null);
    const at = replacedBy(change);
    replaced.current = at === null ? null : { at, from, to };
    newest.current = to;
    onWrite(to);
  }
  async function work(): Promise<void> {
    while (waiting.current.length > 0) {
      if (replacedBy(waiting.current[0]) !== null) await pauseUntil(lastCall.current + BETWEEN_KEYS);
      const [change] = waiting.current;
      if (!change) break;
      busy.current = change;
      try {
        await write(change);
      } catch (failed) {
        const why = failed instanceof Error ? failed.message : 'The condition could not be changed.';
        if (mayBeTakenLater(failed)) {
          setFault({ of: change, why });
          again.current = setTimeout(begin, TRIES_AGAIN);
          return;
        }
        refuse(change, why);
      } finally {
        busy.current = null;
      }
      waiting.current = waiting.current.slice(1);
      keep();
    }
    setWorking(false);
  }
  const keep = (): void =>
    keepChanges(form, { source: newest.current, changes: waiting.current, replaced: replaced.current });
  function begin(): void {
    clearTimeout(again.current);
    setWorking(true);
    queue.current = trackFormWork(queue.current.then(work));
  }
  // Writes the changes of an earlier visit if the expression has not changed since.
  const takeUp = useEffectEvent(() => {
    const kept = readKeptChanges(form);
    if (!kept || waiting.current.length > 0) return;
    if (kept.source !== newest.current) {
      setDropped(kept.changes.map((change) => ({ change, why: MOVED })));
      return;
    }
    takenUp.current = kept.changes;
    waiting.current = kept.changes;
    replaced.current = kept.replaced ?? null;
    begin();
  });
  useEffect(() => (isRead ? afterFormWork(() => takeUp()) : undefined), [isRead]);

  return {
    fault: fault && { why: fault.why, at: replacedBy(fault.of) },
    isWorking,
    dropped,
    dismissDropped() {
      setDropped([]);
      keep();
    },
    apply(change) {
      waiting.current = withChange(waiting.current, change, busy.current);
      keep();
      begin();
    },
  };
}

/**
 * Calls when no change of a form is being written. If the user has just left and reopened the form, its last changes are, and they would be
 * written twice. Returns what cancels the call.
 */
function afterFormWork(call: () => void): () => void {
  let isCancelled = false;
  void formWorkSettled().then(() => {
    if (!isCancelled) call();
  });
  return () => {
    isCancelled = true;
  };
}

/** Resolves at a time of `performance.now()`; at once if it has passed. */
async function pauseUntil(time: number): Promise<void> {
  const left = time - performance.now();
  if (left > 0) await new Promise((resolve) => setTimeout(resolve, left));
}
