import { useMutation } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { discardDraft, readBoth, readDraft, saveDraft } from '../../api/draft-calls.ts';
import { useMay } from '../../api/me.ts';
import { reloadDrafts } from '../../api/use-draft.ts';
import { Problem } from '../../ui/answers.tsx';
import { Button } from '../../ui/button.tsx';
import { cls } from '../../ui/class-names.ts';
import { NativeSelect } from '../../ui/native-select.tsx';
import { say, undoing } from '../../ui/notices.ts';
import styles from './drafts.module.css';
import type { DraftsPlan } from './queries.ts';

type Former = DraftsPlan['changes'][number]['formers'][number];

/** Offers to continue the history of a removed notification, so that nobody is notified twice. */
export function KeepHistory({
  workspace,
  name,
  formers,
}: {
  readonly workspace: string;
  readonly name: string;
  /** Notifications that it may have been before. */
  readonly formers: readonly Former[];
}): ReactNode {
  const [picked, setPicked] = useState<string | null>(null);
  const former = formers.find((one) => one.name === picked) ?? formers[0];
  const off = useMay('configure', workspace);
  const keep = useMutation({
    mutationFn: (one: Former) => keepHistoryOf(one, workspace, name),
    onSuccess: (putBack, { title }) =>
      say(
        `It keeps the history of ${title}, which is removed with it.`,
        undoing(putBack, () => reloadDrafts(workspace)),
      ),
    onSettled: () => reloadDrafts(workspace),
  });
  if (former === undefined) return <p>New: nobody has received this notification yet.</p>;
  return (
    <div className={cls(styles.headline)}>
      <span>
        New: nobody has received this notification yet. Was it called{' '}
        {formers.length === 1 ? <i>{former.title}</i> : 'something else'} before?
      </span>
      {formers.length > 1 && (
        <NativeSelect
          label="Former name"
          hidesLabel
          options={formers.map((one) => ({ id: one.name, name: one.title }))}
          value={former.name}
          onChange={setPicked}
        />
      )}
      <Button off={off} isDisabled={keep.isPending} onPress={() => keep.mutate(former)}>
        Keep its history
      </Button>
      {keep.error && <Problem error={keep.error} />}
    </div>
  );
}

/** Gives the new notification the id of its former one, and removes that in the same publication. Resolves to the way back. */
async function keepHistoryOf(
  { name: formerName, id }: Former,
  workspace: string,
  name: string,
): Promise<() => Promise<unknown>> {
  const own = { kind: 'notifications', workspace, name } as const;
  const old = { kind: 'notifications', workspace, name: formerName } as const;
  const [draft, former] = await Promise.all([readDraft(own), readBoth(old)]);
  if (draft === null) throw new Error('The draft is discarded.');
  const removal = await saveDraft(old, {
    body: null,
    revision: former.draft?.revision ?? null,
    basedOn: former.draft ? undefined : (former.resource?.number ?? null),
  });
  const saved = await saveDraft(own, { body: { ...draft.body, id }, revision: draft.revision, basedOn: undefined });
  return async () => {
    await saveDraft(own, { body: draft.body, revision: saved.revision, basedOn: undefined });
    if (former.draft === null) return discardDraft(old, removal.revision);
    return saveDraft(old, { body: former.draft.body, revision: removal.revision, basedOn: undefined });
  };
}
