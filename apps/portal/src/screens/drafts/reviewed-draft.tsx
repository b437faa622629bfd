import type { ReactNode } from 'react';
import { cls } from '../../ui/class-names.ts';
import { Sentence } from '../../ui/sentence.tsx';
import { changeSentences } from '../notifications/change-sentences.ts';
import { sentenceOf } from '../notifications/sentence.ts';
import { counted } from './change-words.ts';
import { Fields } from './fields.tsx';
import { FileDiff } from './file-diff.tsx';
import { KeepHistory } from './keep-history.tsx';
import { changesOf, filesOf } from './plan-parts.ts';
import type { DraftFacts, DraftsPlan } from './queries.ts';
import styles from './drafts.module.css';

type Reviewed = Pick<DraftFacts, 'kind' | 'workspace' | 'name' | 'action'>;

/** Shows what a draft changes: a notification in sentences, other kinds value by value. Its files are in a disclosure. */
export function ReviewedDraft({
  draft,
  plan,
}: {
  readonly draft: Reviewed;
  readonly plan: Pick<DraftsPlan, 'bodies' | 'changes' | 'files'> | undefined;
}): ReactNode {
  const body = plan?.bodies.find(({ kind, name }) => kind === draft.kind && name === draft.name);
  const described = changeSentences(body?.before ?? null, body?.after ?? null);
  const files = filesOf(plan, draft);
  const isChange = draft.action === 'update';
  return (
    <>
      {body?.after && <p>{sentenceOf(body.after)}</p>}
      {isChange && described.sentences.length > 0 && (
        <ul aria-label="What changes" className={cls(styles.fields)}>
          {described.sentences.map((sentence) => (
            <li key={sentence}>{sentence}</li>
          ))}
        </ul>
      )}
      {changesOf(plan, draft).map((change) => (
        <div key={change.resource} className={cls(styles.fields)}>
          <Note draft={draft} change={change} />
          {change.told !== null && (
            <p>
              {counted(change.told, 'person was', 'people were')} notified by it. Waiting messages to{' '}
              {counted(change.waiting ?? 0, 'person', 'people')} will not be sent.
            </p>
          )}
          {draft.action !== 'create' && (
            <Fields fields={change.fields.filter(({ path }) => !described.isDescribed(path))} />
          )}
        </div>
      ))}
      {files.length > 0 && (
        <details className={cls(styles.file)}>
          <summary>{counted(files.length, 'file')}</summary>
          {files.map((file) => (
            <FileDiff key={file.path} file={file} />
          ))}
        </details>
      )}
    </>
  );
}

function Note({
  draft,
  change,
}: {
  readonly draft: Reviewed;
  readonly change: DraftsPlan['changes'][number];
}): ReactNode {
  if (draft.kind === 'notification' && draft.action === 'create' && change.formers.length > 0) {
    return <KeepHistory workspace={draft.workspace} name={draft.name} formers={change.formers} />;
  }
  if (change.note === null) return null;
  return (
    <p>
      <Sentence text={change.note} />
    </p>
  );
}
