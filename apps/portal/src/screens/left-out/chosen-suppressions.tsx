import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { useMayInAll } from '../../api/me.ts';
import { Loading, Problem } from '../../ui/answers.tsx';
import { Button } from '../../ui/button.tsx';
import { cls } from '../../ui/class-names.ts';
import { Curl } from '../../ui/curl.tsx';
import { Actions } from '../../ui/page.tsx';
import { countSuppressions, removeSuppressions, restoreSuppressions, SUPPRESSIONS } from './calls.ts';
import { ChosenAction } from './chosen-action.tsx';
import { counted } from '../drafts/change-words.ts';
import { byWorkspace, useInEach } from './in-each.tsx';
import { sourceMeaning, type Suppression } from './left-out-words.ts';
import styles from './left-out.module.css';

type Props = { readonly chosen: readonly Suppression[] };

/** What can be done with the entries that were chosen in the list. */
export function ChosenSuppressions({ chosen, onClear }: Props & { readonly onClear: () => void }): ReactNode {
  const off = useMayInAll('operate', [...new Set(chosen.map(({ workspace }) => workspace))]);
  return (
    <ChosenAction
      count={chosen.length}
      fitting={chosen}
      verb="Take back"
      title="Send to these again?"
      off={off}
      onClear={onClear}
    >
      {(asked, leave, done) => <Question chosen={asked} onLeave={leave} onDone={done} />}
    </ChosenAction>
  );
}

const addressesWords = (count: number): string => counted(count, 'address', 'addresses');

const entriesWords = (count: number): string => counted(count, 'entry', 'entries');

/** Asks with the number of addresses first; what was taken back can be put back. */
function Question({
  chosen,
  onLeave,
  onDone,
}: Props & { readonly onLeave: () => void; readonly onDone: () => void }): ReactNode {
  const groups = [...Map.groupBy(chosen, ({ workspace }) => workspace)].map(([workspace, own]) => ({
    workspace,
    entries: own.map(({ channel, address, source }) => ({ channel, address, source })),
  }));
  const count = useQuery({
    queryKey: [SUPPRESSIONS, 'count', groups],
    queryFn: async () => {
      const counts = await Promise.all(
        groups.map(({ workspace, entries }) => countSuppressions(workspace, { entries })),
      );
      return counts.map((own, at) => ({ ...own, workspace: groups[at]?.workspace ?? '' }));
    },
    staleTime: 0,
    gcTime: 0,
  });
  const { error, isPending, go, outcome } = useInEach({
    groups,
    act: ({ workspace, entries }) => removeSuppressions(workspace, { entries }),
    back: (workspace, { undo }) => restoreSuppressions(workspace, undo),
    changes: SUPPRESSIONS,
    changed: ({ removed, addresses }) =>
      removed === 0 ? null : `${entriesWords(removed)} of ${addressesWords(addresses)}`,
    said: (what) => (what === null ? 'None of them was there any more.' : `Taken back: ${what}.`),
    onDone,
  });
  if (outcome) return outcome;
  const { data } = count;
  if (count.error) return <Problem error={count.error} onRetry={() => void count.refetch()} />;
  if (!data) return <Loading what="the count" rows={2} />;
  const isOfSeveral = groups.length > 1;
  const removed = data.reduce((sum, one) => sum + one.removed, 0);
  const still = data.filter((one) => one.still > 0);
  const meanings = [...new Set(chosen.map(({ source }) => sourceMeaning(source)))];
  return (
    <div className={cls(styles.form)}>
      <p>
        Messages go out to{' '}
        {byWorkspace(
          data.map((one) => ({ ...one, words: addressesWords(one.addresses - one.still) })),
          isOfSeveral,
        )}{' '}
        again from now on
        {still.length > 0 &&
          `; ${byWorkspace(
            still.map((one) => ({ ...one, words: `${one.still.toLocaleString('en')} more` })),
            isOfSeveral,
          )} stay held back by another source`}
        . What was held back before stays so.
      </p>
      {meanings.map((meaning) => (
        <p key={meaning}>{meaning}</p>
      ))}
      {error && <Problem error={error} />}
      <Curl
        calls={groups.map(({ workspace, entries }) => ({
          method: 'POST',
          path: `/v1/workspaces/${workspace}/suppressions/remove-many`,
          body: { entries },
        }))}
      />
      <Actions>
        <Button onPress={onLeave}>Leave it</Button>
        <Button kind="danger" isDisabled={isPending || removed === 0} onPress={go}>
          Take back {removed.toLocaleString('en')}
        </Button>
      </Actions>
    </div>
  );
}
