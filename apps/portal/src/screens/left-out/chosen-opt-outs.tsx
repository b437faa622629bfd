import { useMutation } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { useMayInAll } from '../../api/me.ts';
import { queryClient } from '../../api/query-client.ts';
import { Problem } from '../../ui/answers.tsx';
import { Button } from '../../ui/button.tsx';
import { cls } from '../../ui/class-names.ts';
import { Curl } from '../../ui/curl.tsx';
import { say, undoing } from '../../ui/notices.ts';
import { Actions } from '../../ui/page.tsx';
import { allowConsents, CONSENTS, restoreConsents } from './calls.ts';
import { ChosenAction } from './chosen-action.tsx';
import { isOut, type Consent } from './left-out-words.ts';
import styles from './left-out.module.css';

/** What can be done with the people who were chosen in the list. */
export function ChosenOptOuts({
  chosen,
  onClear,
}: {
  readonly chosen: readonly Consent[];
  readonly onClear: () => void;
}): ReactNode {
  const out = chosen.filter(isOut);
  const off = useMayInAll('operate', [...new Set(out.map(({ workspace }) => workspace))]);
  return (
    <ChosenAction
      count={chosen.length}
      fitting={out}
      verb="They want it again"
      title="Send to these people again?"
      otherwise="These people want everything again already."
      off={off}
      onClear={onClear}
    >
      {(asked, leave, done) => <Question chosen={asked} onLeave={leave} onDone={done} />}
    </ChosenAction>
  );
}

const peopleWords = (count: number): string => `${count.toLocaleString('en')} ${count === 1 ? 'person' : 'people'}`;

function Question({
  chosen,
  onLeave,
  onDone,
}: {
  readonly chosen: readonly Consent[];
  readonly onLeave: () => void;
  readonly onDone: () => void;
}): ReactNode {
  const groups = [...Map.groupBy(chosen, ({ workspace }) => workspace)].map(([workspace, own]) => ({
    workspace,
    people: own.map(({ person }) => person),
  }));
  const isOld = (): Promise<void> => queryClient.invalidateQueries({ queryKey: [CONSENTS] });
  const allow = useMutation({
    mutationFn: async () => {
      const done: { readonly workspace: string; readonly people: number; readonly undo: string }[] = [];
      for (const { workspace, people } of groups) done.push({ workspace, ...(await allowConsents(workspace, people)) });
      return done;
    },
    onSuccess(done) {
      const count = done.reduce((sum, { people }) => sum + people, 0);
      const back = async (): Promise<void> => {
        for (const { workspace, undo } of done) await restoreConsents(workspace, undo);
      };
      say(`It comes to ${peopleWords(count)} again.`, count === 0 ? null : undoing(back, isOld));
      onDone();
    },
    onSettled: isOld,
  });
  return (
    <div className={cls(styles.form)}>
      <p>
        {peopleWords(chosen.length)}
        {groups.length > 1 && ` in ${groups.length} workspaces`}: all that they opted out of comes to them again from
        now on. What was held back before stays so.
      </p>
      <p>Do it only where they asked for it, or where they never opted out: after a file that was wrong.</p>
      {allow.error && <Problem error={allow.error} />}
      <Curl
        calls={groups.map(({ workspace, people }) => ({
          method: 'POST',
          path: `/v1/workspaces/${workspace}/consents/allow-many`,
          body: { people },
        }))}
      />
      <Actions>
        <Button onPress={onLeave}>Leave it</Button>
        <Button kind="danger" isDisabled={allow.isPending} onPress={() => allow.mutate()}>
          Send to {peopleWords(chosen.length)} again
        </Button>
      </Actions>
    </div>
  );
}
