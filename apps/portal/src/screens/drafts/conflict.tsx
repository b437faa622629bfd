import { useMutation } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { discardDraft, saveDraft, segmentOf } from '../../api/draft-calls.ts';
import { reloadDrafts } from '../../api/use-draft.ts';
import { Problem } from '../../ui/answers.tsx';
import { Button } from '../../ui/button.tsx';
import { cls } from '../../ui/class-names.ts';
import { Curl } from '../../ui/curl.tsx';
import { Actions } from '../../ui/page.tsx';
import { say, undoing } from '../../ui/notices.ts';
import { AsFiles } from './as-file.tsx';
import { placeWords, titleOf } from './change-words.ts';
import { discardingCall, savingCall } from './draft-call.ts';
import type { Conflict, DraftsPlan } from './queries.ts';
import styles from './drafts.module.css';

/** Shows two people's versions of a resource by field, with the choice between them. */
export function ConflictCard({
  conflict,
  files,
}: {
  readonly conflict: Conflict;
  /** The files of the resource: `before` is theirs, `after` is mine. */
  readonly files: DraftsPlan['files'];
}): ReactNode {
  const { kind, name, workspace, revision, base, theirs, mine } = conflict;
  const address = { kind: segmentOf(kind), workspace, name };
  const choose = useMutation({
    mutationFn: async (choice: 'mine' | 'theirs'): Promise<void> => {
      if (choice === 'mine') await saveDraft(address, { body: mine.body, revision, basedOn: theirs.number });
      else await discardDraft(address, revision);
    },
    onSuccess(_done, choice) {
      if (choice === 'mine') say('Your draft is now based on the published version.');
      else say('Your draft is discarded. The published version stays.', putBack);
    },
    onSettled: () => reloadDrafts(workspace),
  });
  // What began from a configuration that a restore took back cannot be begun from it anew.
  const putBack =
    (base.number ?? 0) < 0
      ? null
      : undoing(
          () => saveDraft(address, { body: mine.body, revision: null, basedOn: base.number }),
          () => reloadDrafts(workspace),
        );
  const calls = [
    savingCall(address, { body: mine.body, revision, basedOn: theirs.number }),
    discardingCall(address, revision),
  ];
  return (
    <section aria-label={`Conflict: ${titleOf(conflict)}`} className={cls(styles.conflict)}>
      <h2>{titleOf(conflict)} was changed by somebody else since this draft began</h2>
      <p>
        Choose before you publish. “Keep mine” keeps your draft, which then replaces theirs, field by field as in the
        table. “Take theirs” discards your draft.
      </p>
      {theirs.body === null && <p>The other person removed this resource. “Keep mine” creates it again.</p>}
      {choose.error && <Problem error={choose.error} />}
      <div className={cls(styles.scroll)} tabIndex={0} role="group" aria-label="Different values">
        <table className={cls(styles.table)}>
          <thead>
            <tr>
              <th scope="col">Field</th>
              <th scope="col">Before</th>
              <th scope="col">Theirs, published</th>
              <th scope="col">Mine</th>
            </tr>
          </thead>
          <tbody>
            {conflict.fields.map((field) => (
              <tr key={field.path}>
                <th scope="row">{placeWords(field.path)}</th>
                <Value text={field.base} />
                <Value text={field.theirs} isChanged={field.theirs !== field.base} />
                <Value text={field.mine} isChanged={field.mine !== field.base} />
              </tr>
            ))}
          </tbody>
        </table>
      </div>
      <Actions>
        <Button isDisabled={choose.isPending} onPress={() => choose.mutate('mine')}>
          Keep mine
        </Button>
        <Button isDisabled={choose.isPending} onPress={() => choose.mutate('theirs')}>
          Take theirs
        </Button>
      </Actions>
      <Curl calls={calls} />
      {files.length > 0 && (
        <AsFiles
          files={files.flatMap(({ path, before, after }) => [
            ...(before === null ? [] : [{ path: `Theirs: ${path}`, text: before }]),
            ...(after === null ? [] : [{ path: `Mine: ${path}`, text: after }]),
          ])}
        />
      )}
    </section>
  );
}

function Value({ text, isChanged = false }: { readonly text: string | null; readonly isChanged?: boolean }): ReactNode {
  return <td className={cls(isChanged && styles.other)}>{text === null ? <i>not there</i> : <code>{text}</code>}</td>;
}
