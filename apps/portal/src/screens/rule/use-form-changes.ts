import { useEffect, useEffectEvent, useRef, useState } from 'react';
import { TRIES_AGAIN } from '../../api/draft-session.ts';
import type { DroppedChange } from './dropped-changes.tsx';
import { keepChanges, mayBeTakenLater, readKeptChanges, workingIn } from './kept-changes.ts';
import { checkExpression, type FormChange } from './queries.ts';

export type FormChanges = {
  /** Why the newest change was not taken; null: it was. */
  readonly fault: string | null;
  /** Changes from before a session ended, or from while nobody answered, that no longer fit. */
  readonly dropped: readonly DroppedChange[];
  readonly dismissDropped: () => void;
  readonly apply: (change: FormChange) => void;
};

const MOVED = 'The condition was changed meanwhile.';

/** Works changes of a form into its text, one after another, each into the text that the one before it made; the server writes it. */
export function useFormChanges({
  workspace,
  form,
  source,
  isRead,
  onWrite,
}: {
  readonly workspace: string;
  /** Which form it is, among all that a browser's tab edits. */
  readonly form: string;
  readonly source: string;
  /** Whether the form of the text is there. */
  readonly isRead: boolean;
  readonly onWrite: (source: string) => void;
}): FormChanges {
  const [fault, setFault] = useState<string | null>(null);
  const [dropped, setDropped] = useState<readonly DroppedChange[]>([]);
  const newest = useRef(source);
  useEffect(() => {
    newest.current = source;
  }, [source]);
  const queue = useRef(Promise.resolve());
  const waiting = useRef<readonly FormChange[]>([]);
  const takenUp = useRef<readonly FormChange[]>([]);
  const again = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => () => clearTimeout(again.current), []);

  /** Whoever just typed it still sees it in its line; what comes from before is shown, so that it can be done again. */
  function refuse(change: FormChange, why: string): void {
    if (takenUp.current.includes(change)) setDropped((before) => [...before, { change, why }]);
    else setFault(why);
  }
  async function work(): Promise<void> {
    for (let [change] = waiting.current; change; [change] = waiting.current) {
      const from = newest.current.trim() === 'true' ? '' : newest.current;
      try {
        const { source: next, faults } = await checkExpression(workspace, { source: from, place: 'when', change });
        const [first] = faults;
        if (first) refuse(change, `${first.message}. ${first.fix}`);
        else {
          setFault(null);
          newest.current = next.trim() === '' ? 'true' : next;
          onWrite(newest.current);
        }
      } catch (failed) {
        const why = failed instanceof Error ? failed.message : 'It could not be changed.';
        if (mayBeTakenLater(failed)) {
          setFault(why);
          again.current = setTimeout(begin, TRIES_AGAIN);
          return;
        }
        refuse(change, why);
      }
      waiting.current = waiting.current.slice(1);
      keep();
    }
  }
  const keep = (): void => keepChanges(form, { source: newest.current, changes: waiting.current });
  function begin(): void {
    clearTimeout(again.current);
    queue.current = workingIn(queue.current.then(work));
  }
  // What was typed before is worked in by whoever comes back to the same text.
  const takeUp = useEffectEvent(() => {
    const kept = readKeptChanges(form);
    if (!kept || waiting.current.length > 0) return;
    if (kept.source !== newest.current) {
      setDropped(kept.changes.map((change) => ({ change, why: MOVED })));
      return;
    }
    takenUp.current = kept.changes;
    waiting.current = kept.changes;
    begin();
  });
  useEffect(() => {
    if (isRead) takeUp();
  }, [isRead]);

  return {
    fault,
    dropped,
    dismissDropped() {
      setDropped([]);
      keep();
    },
    apply(change) {
      waiting.current = [...waiting.current, change];
      keep();
      begin();
    },
  };
}
