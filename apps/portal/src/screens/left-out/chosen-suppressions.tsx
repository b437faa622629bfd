import { useMutation, useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import type { Schemas } from '../../api/client.ts';
import { useMayInAll } from '../../api/me.ts';
import { queryClient } from '../../api/query-client.ts';
import { Loading, Problem } from '../../ui/answers.tsx';
import { Button } from '../../ui/button.tsx';
import { cls } from '../../ui/class-names.ts';
import { Curl } from '../../ui/curl.tsx';
import { say, undoing } from '../../ui/notices.ts';
import { Actions } from '../../ui/page.tsx';
import { countSuppressions, removeSuppressions, restoreSuppressions, SUPPRESSIONS } from './calls.ts';
import { ChosenAction } from './chosen-action.tsx';
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

const addressesWords = (count: number): string =>
  `${count.toLocaleString('en')} ${count === 1 ? 'address' : 'addresses'}`;

const sumOf = <One,>(all: readonly One[], count: (one: One) => number): number =>
  all.reduce((sum, one) => sum + count(one), 0);

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
      return {
        removed: sumOf(counts, ({ removed }) => removed),
        addresses: sumOf(counts, ({ addresses }) => addresses),
        still: sumOf(counts, ({ still }) => still),
      };
    },
    staleTime: 0,
    gcTime: 0,
  });
  const isOld = (): Promise<void> => queryClient.invalidateQueries({ queryKey: [SUPPRESSIONS] });
  const remove = useMutation({
    mutationFn: async () => {
      const taken: (Schemas['UnsuppressedMany'] & { readonly workspace: string })[] = [];
      for (const { workspace, entries } of groups) {
        taken.push({ workspace, ...(await removeSuppressions(workspace, { entries })) });
      }
      return taken;
    },
    onSuccess(taken) {
      const removed = sumOf(taken, (one) => one.removed);
      const addresses = sumOf(taken, (one) => one.addresses);
      const back = async (): Promise<void> => {
        for (const { workspace, undo } of taken) await restoreSuppressions(workspace, undo);
      };
      const words = `${removed.toLocaleString('en')} taken back, of ${addressesWords(addresses)}.`;
      say(words, removed === 0 ? null : undoing(back, isOld));
      onDone();
    },
    onSettled: isOld,
  });
  const { data } = count;
  if (count.error) return <Problem error={count.error} onRetry={() => void count.refetch()} />;
  if (!data) return <Loading what="the count" rows={2} />;
  const free = data.addresses - data.still;
  const meanings = [...new Set(chosen.map(({ source }) => sourceMeaning(source)))];
  return (
    <div className={cls(styles.form)}>
      <p>
        Messages go out to {addressesWords(free)} again from now on
        {data.still > 0 && `; ${data.still.toLocaleString('en')} more stay held back by another source`}. What was held
        back before stays so.
      </p>
      {meanings.map((meaning) => (
        <p key={meaning}>{meaning}</p>
      ))}
      {remove.error && <Problem error={remove.error} />}
      <Curl
        calls={groups.map(({ workspace, entries }) => ({
          method: 'POST',
          path: `/v1/workspaces/${workspace}/suppressions/remove-many`,
          body: { entries },
        }))}
      />
      <Actions>
        <Button onPress={onLeave}>Leave it</Button>
        <Button kind="danger" isDisabled={remove.isPending || data.removed === 0} onPress={() => remove.mutate()}>
          Take back {data.removed.toLocaleString('en')}
        </Button>
      </Actions>
    </div>
  );
}
