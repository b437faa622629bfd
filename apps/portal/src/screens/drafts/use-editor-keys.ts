import { useNavigate } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import { flushSync } from 'react-dom';
import type { Editable } from '../../api/draft-calls.ts';
import type { EditedDraft } from '../../api/use-draft.ts';

type Edited = Pick<EditedDraft<Editable>, 'saveNow' | 'workspace'>;

/** Shows what is wrong with the field that is typed in, as if it had been left; the focus stays. */
function showFaults(field: EventTarget | null): void {
  flushSync(() => field?.dispatchEvent(new FocusEvent('focusout', { bubbles: true })));
}

/** The keys of an editor, wherever the focus is in it: Ctrl or ⌘ with Enter tries, with S saves, with Shift and P reviews. */
export function useEditorKeys(draft: Edited, run: () => void): void {
  const navigate = useNavigate();
  const keys = useRef({ draft, navigate, run });
  useEffect(() => {
    keys.current = { draft, navigate, run };
  });
  useEffect(() => {
    const hear = (event: KeyboardEvent): void => {
      if (!(event.ctrlKey || event.metaKey) || event.altKey) return;
      if (event.target instanceof HTMLElement && event.target.closest('[role="dialog"]')) return;
      const key = event.key.toLowerCase();
      if (key !== 'enter' && key !== 's' && !(key === 'p' && event.shiftKey)) return;
      showFaults(event.target);
      const { draft: now, navigate: go, run: runNow } = keys.current;
      if (key === 'enter') runNow();
      else if (key === 's') void now.saveNow();
      else {
        void now.saveNow().then(async (isSaved) => {
          if (isSaved) await go({ to: '/workspaces/$w/drafts', params: { w: now.workspace } });
        });
      }
      // Buttons and the editor would take Enter for theirs.
      event.preventDefault();
      event.stopPropagation();
    };
    document.addEventListener('keydown', hear, true);
    return () => document.removeEventListener('keydown', hear, true);
  }, []);
}
