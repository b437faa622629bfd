import type { ReactNode } from 'react';
import { useMayInAll } from '../../api/me.ts';
import { Problem } from '../../ui/answers.tsx';
import { Button } from '../../ui/button.tsx';
import { cls } from '../../ui/class-names.ts';
import { Curl } from '../../ui/curl.tsx';
import { Actions } from '../../ui/page.tsx';
import { counted } from '../drafts/change-words.ts';
import { allowConsents, CONSENTS, restoreConsents } from './calls.ts';
import { ChosenAction } from './chosen-action.tsx';
import { byWorkspace, useInEach } from './in-each.tsx';
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

const peopleWords = (count: number): string => counted(count, 'person', 'people');

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
  const { error, isPending, go, outcome } = useInEach({
    groups,
    act: ({ workspace, people }) => allowConsents(workspace, people),
    back: (workspace, { undo }) => restoreConsents(workspace, undo),
    changes: CONSENTS,
    changed: ({ people }) => (people === 0 ? null : peopleWords(people)),
    said: (whom) => (whom === null ? 'It came to all of them already.' : `It comes to ${whom} again.`),
    onDone,
  });
  if (outcome) return outcome;
  const asked = groups.map(({ workspace, people }) => ({ workspace, words: peopleWords(people.length) }));
  const whom = byWorkspace(asked, groups.length > 1);
  return (
    <div className={cls(styles.form)}>
      <p>{whom}: all that they opted out of comes to them again from now on. What was held back before stays so.</p>
      <p>Do it only where they asked for it, or where they never opted out: after a file that was wrong.</p>
      {error && <Problem error={error} />}
      <Curl
        calls={groups.map(({ workspace, people }) => ({
          method: 'POST',
          path: `/v1/workspaces/${workspace}/consents/allow-many`,
          body: { people },
        }))}
      />
      <Actions>
        <Button onPress={onLeave}>Leave it</Button>
        <Button kind="danger" isDisabled={isPending} onPress={go}>
          Send to {whom} again
        </Button>
      </Actions>
    </div>
  );
}
