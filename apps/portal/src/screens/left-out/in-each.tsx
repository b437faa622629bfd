import { useMutation } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { backInEach, inEach, type InEach, type Refused } from '../../api/in-each-workspace.ts';
import { queryClient } from '../../api/query-client.ts';
import { Button } from '../../ui/button.tsx';
import { cls } from '../../ui/class-names.ts';
import { say, undoing } from '../../ui/notices.ts';
import { Actions } from '../../ui/page.tsx';
import styles from './left-out.module.css';

/** One thing that is done with chosen rows of several workspaces. */
type Deed<Group, Answer> = {
  readonly groups: readonly Group[];
  readonly act: (group: Group) => Promise<Answer>;
  readonly back: (workspace: string, answer: Answer) => Promise<unknown>;
  /** The path of the lists that are old after it. */
  readonly changes: string;
  /** `2 people`; of an answer that changed nothing null. */
  readonly changed: (answer: Answer) => string | null;
  /** `It comes to 2 people again.`, of what was changed in which workspace; null: nothing was. */
  readonly said: (what: string | null) => string;
  readonly onDone: () => void;
};

type Part = { readonly workspace: string; readonly words: string };

/** `2 people`; where several workspaces were asked each by its name: `2 people in shop, 1 person in care`. */
export const byWorkspace = (parts: readonly Part[], isOfSeveral: boolean): string =>
  parts.map(({ workspace, words }) => (isOfSeveral ? `${words} in ${workspace}` : words)).join(', ');

/** Does it in every workspace. What was done has a way back at once, whatever another workspace said. */
export function useInEach<Group extends { readonly workspace: string }, Answer>(deed: Deed<Group, Answer>) {
  const { act, back, changed, changes, groups, onDone, said } = deed;
  const [refused, setRefused] = useState<{ readonly all: readonly Refused[]; readonly done: string | null } | null>(
    null,
  );
  const isOld = (): Promise<void> => queryClient.invalidateQueries({ queryKey: [changes] });
  const mutation = useMutation({
    mutationFn: async (asked: readonly Group[]): Promise<InEach<Answer>> => {
      const outcome = await inEach(asked, act);
      const [first] = outcome.refused;
      // Where one workspace was asked, there is nothing to tell but why it refused.
      if (first && groups.length === 1) throw first.error;
      return outcome;
    },
    onSuccess({ done, refused: all }) {
      const parts = done.flatMap(({ workspace, answer }) => {
        const words = changed(answer);
        return words === null ? [] : [{ workspace, words }];
      });
      const words = parts.length > 0 ? byWorkspace(parts, groups.length > 1) : null;
      if (done.length > 0) {
        say(said(words), words === null ? null : undoing(backInEach(done, back), isOld));
      }
      if (all.length === 0) return onDone();
      return setRefused((before) => ({ all, done: [before?.done, words].filter(Boolean).join(', ') || null }));
    },
    onSettled: isOld,
  });
  return {
    error: mutation.error,
    isPending: mutation.isPending,
    go: () => mutation.mutate(groups),
    /** What is shown in place of the question where some workspaces refused; null: none did. */
    outcome: refused && (
      <Outcome
        {...refused}
        isPending={mutation.isPending}
        onAgain={() =>
          mutation.mutate(groups.filter((group) => refused.all.some((one) => one.workspace === group.workspace)))
        }
        onClose={onDone}
      />
    ),
  };
}

function Outcome({
  all,
  done,
  isPending,
  onAgain,
  onClose,
}: {
  readonly all: readonly Refused[];
  readonly done: string | null;
  readonly isPending: boolean;
  readonly onAgain: () => void;
  readonly onClose: () => void;
}): ReactNode {
  return (
    <div className={cls(styles.form)}>
      <p>Done: {done ?? 'nothing'}.</p>
      {all.map(({ workspace, error }) => (
        <p key={workspace} role="alert">
          It was not done, or not for all, in {workspace}: {error.message}
        </p>
      ))}
      <Actions>
        <Button onPress={onClose}>Close</Button>
        <Button kind="danger" isDisabled={isPending} onPress={onAgain}>
          Try again in {all.map(({ workspace }) => workspace).join(', ')}
        </Button>
      </Actions>
    </div>
  );
}
