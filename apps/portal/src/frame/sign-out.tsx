import { useMutation } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { api, bodyOf } from '../api/client.ts';
import { abandonUnsavedWork } from '../api/unsaved.ts';
import { Button } from '../ui/button.tsx';
import { Dialog } from '../ui/dialog.tsx';
import { say } from '../ui/notices.ts';

/** Removes unsaved text from the tab's storage. */
function forgetTab(): void {
  try {
    sessionStorage.clear();
  } catch {
    // A browser that lets nothing be kept has kept nothing.
  }
}

/** Saves pending drafts of the user. Returns true if the server has all of them. */
async function saveAll(): Promise<boolean> {
  const { saveAllDrafts } = await import('../api/use-draft.ts');
  return saveAllDrafts();
}

/** Signs out of this browser, and asks first where text that was typed would go with it. */
export function useSignOut(): { readonly begin: () => void; readonly question: ReactNode } {
  const [isAsked, setAsked] = useState(false);
  const leave = useMutation({
    mutationFn: () => bodyOf(api.DELETE('/v1/session')),
    onSuccess() {
      forgetTab();
      abandonUnsavedWork();
      // Reloads the page, so that the next user finds no data of this one.
      location.assign('/sign-in');
    },
    onError: (error) => say(error.message),
  });
  const save = useMutation({
    mutationFn: saveAll,
    onSuccess(isSaved) {
      if (isSaved) leave.mutate();
      else setAsked(true);
    },
    onError: (error) => say(error.message),
  });
  return {
    begin() {
      if (save.isPending || leave.isPending) return;
      say('Saving your changes, then signing out.');
      save.mutate();
    },
    question: (
      <Dialog
        title="Sign out without saving?"
        isOpen={isAsked}
        onClose={() => setAsked(false)}
        foot={
          <>
            <Button onPress={() => setAsked(false)}>Stay</Button>
            <Button kind="danger" isDisabled={leave.isPending} onPress={() => leave.mutate()}>
              Sign out without saving
            </Button>
          </>
        }
      >
        <p>
          Some of your text could not be saved: the server refused it, or somebody else changed the same draft. The
          unsaved text stays in this tab until you sign out, and then it is lost.
        </p>
      </Dialog>
    ),
  };
}
