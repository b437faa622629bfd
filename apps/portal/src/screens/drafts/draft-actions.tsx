import { useNavigate } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import type { Editable } from '../../api/draft-calls.ts';
import { useMay } from '../../api/me.ts';
import type { EditedDraft } from '../../api/use-draft.ts';
import { Problem } from '../../ui/answers.tsx';
import { Button } from '../../ui/button.tsx';
import { cls } from '../../ui/class-names.ts';
import { Curl } from '../../ui/curl.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Actions } from '../../ui/page.tsx';
import { say } from '../../ui/notices.ts';
import { discardingCall } from './draft-call.ts';
import styles from './drafts.module.css';

type Shown = Pick<
  EditedDraft<Editable>,
  | 'kind'
  | 'workspace'
  | 'name'
  | 'draftRevision'
  | 'hasDraft'
  | 'saving'
  | 'saveNow'
  | 'tryPublishing'
  | 'discard'
  | 'body'
  | 'resource'
  | 'isLoading'
  | 'wayBack'
  | 'conflict'
>;

const SAVING: Readonly<Record<EditedDraft<Editable>['saving'], string>> = {
  saved: 'Draft saved',
  waiting: 'Draft: saving',
  saving: 'Draft: saving',
  failed: 'Draft not saved',
};

/** For the head of a page that edits: that there is a draft and whether it is saved, discarding it, and the way to publish it. */
export function DraftActions({
  draft,
  isPart = false,
}: {
  readonly draft: Shown;
  /** Stands in a part of a page that has a draft of its own. */
  readonly isPart?: boolean;
}): ReactNode {
  const [isAsking, setAsking] = useState(false);
  const navigate = useNavigate();
  const { workspace, hasDraft, saving } = draft;
  const off = useMay('configure', workspace);
  if (!hasDraft) return null;
  const review = async (): Promise<void> => {
    // The review must include the last edits. If saving fails, the reason is shown below the header.
    if (!(await draft.saveNow())) return;
    draft.tryPublishing();
    await navigate({ to: '/workspaces/$w/drafts', params: { w: workspace } });
  };
  const discard = async (): Promise<void> => {
    const { conflict } = draft;
    const putBack = draft.wayBack();
    if (!(await draft.discard())) {
      say('The draft was not discarded: somebody saved it again, or Carillon did not answer.');
      return;
    }
    // One in conflict began from what is not there any more: made anew it would be published over theirs.
    say('The draft is discarded.', conflict === null ? putBack : null);
  };
  return (
    <>
      <div className={cls(styles.controls, !isPart && styles.floating)}>
        <span role="status" className={cls(styles.chip)} data-draft={saving}>
          {SAVING[saving]}
        </span>
        <Button off={off} onPress={() => setAsking(true)}>
          Discard
        </Button>
        <Button kind={isPart ? 'plain' : 'main'} onPress={() => void review()}>
          Review and publish
        </Button>
      </div>
      <Dialog
        title="Discard this draft?"
        isOpen={isAsking}
        onClose={() => setAsking(false)}
        foot={
          <>
            <Button onPress={() => setAsking(false)}>Cancel</Button>
            <Button
              kind="danger"
              onPress={() => {
                setAsking(false);
                void discard();
              }}
            >
              Discard the draft
            </Button>
          </>
        }
      >
        <p>
          {draft.resource === null
            ? 'It was never published, so nothing of it remains.'
            : 'The published version stays. Your changes are lost.'}
        </p>
        {draft.draftRevision !== null && <Curl call={discardingCall(draft, draft.draftRevision)} />}
      </Dialog>
    </>
  );
}

type Clash = Pick<
  EditedDraft<Editable>,
  'isMoved' | 'conflict' | 'saveError' | 'keepMine' | 'takeTheirs' | 'workspace' | 'saving'
>;

/** Notices below the header: changes by others, and errors of saving. */
export function DraftNotices({ draft }: { readonly draft: Clash }): ReactNode {
  const { isMoved, conflict, saveError } = draft;
  return (
    <>
      {isMoved && (
        <div role="alert" className={cls(styles.warnings)}>
          <p>
            Another person changed, published or discarded this draft while you typed. Your text is not saved until you
            choose.
          </p>
          <Choice draft={draft} />
        </div>
      )}
      {!isMoved && conflict !== null && (
        <div role="alert" className={cls(styles.warnings)}>
          <p>
            Somebody else published a new version after you started this draft. {conflict.fields.length} values are
            different. Review shows them side by side.
          </p>
          <Choice draft={draft} />
        </div>
      )}
      {saveError !== null && <Problem error={saveError} />}
    </>
  );
}

function Choice({ draft }: { readonly draft: Clash }): ReactNode {
  const isBusy = draft.saving === 'saving';
  return (
    <Actions>
      <Button isDisabled={isBusy} onPress={() => void draft.keepMine()}>
        Keep mine
      </Button>
      <Button isDisabled={isBusy} onPress={() => void draft.takeTheirs()}>
        Take theirs
      </Button>
    </Actions>
  );
}
