import { useMutation } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useMay, useWho } from '../../api/me.ts';
import { queryClient } from '../../api/query-client.ts';
import { Problem } from '../../ui/answers.tsx';
import { Button } from '../../ui/button.tsx';
import { cls } from '../../ui/class-names.ts';
import { Curl } from '../../ui/curl.tsx';
import { Actions } from '../../ui/page.tsx';
import { Panel } from '../../ui/split.tsx';
import { Lamp } from '../../ui/state.tsx';
import { Time } from '../../ui/time.tsx';
import { say } from '../../ui/notices.ts';
import { CONSENTS, consentUndo, setConsent, type SaidConsent } from './calls.ts';
import { targetWords, wayWords, type Channel, type Consent, type ConsentEntry } from './entry-text.ts';
import styles from './entries.module.css';

/** All that one person said, the newest word about each thing. */
export function OptOutPanel({
  id,
  consent,
  isListRead,
  onClose,
}: {
  readonly id: string;
  readonly consent: Consent | undefined;
  readonly isListRead: boolean;
  readonly onClose: () => void;
}): ReactNode {
  return (
    <Panel id={id} title={<bdi>{consent?.person ?? 'Opt-outs'}</bdi>} onClose={onClose}>
      {consent ? (
        <Said consent={consent} />
      ) : (
        isListRead && <p>This person is not in the list. Search by id or address.</p>
      )}
    </Panel>
  );
}

/** The same word the other way round; null: what it is about is gone. */
function opposite(person: string, word: ConsentEntry): SaidConsent | null {
  if (word.target !== 'all' && word.name === null) return null;
  return {
    person,
    target: word.target,
    ...(word.name !== null && { name: word.name }),
    channel: word.channel as Channel | null,
    opted_out: !word.opted_out,
  };
}

function Said({ consent }: { readonly consent: Consent }): ReactNode {
  const { workspace, person, words, exempt } = consent;
  const off = useMay('operate', workspace);
  const who = useWho(...words.map(({ by }) => by));
  const isOld = (): Promise<void> => queryClient.invalidateQueries({ queryKey: [CONSENTS] });
  const change = useMutation({
    mutationFn: (said: SaidConsent) => setConsent(workspace, said),
    onSuccess: (now, said) =>
      say(
        said.opted_out ? 'They do not get it any more.' : 'They get it again.',
        consentUndo(workspace, person, now, isOld),
      ),
    onSettled: isOld,
  });
  const [first] = words;
  const call = first && opposite(person, first);
  return (
    <>
      {change.error && <Problem error={change.error} />}
      <ul aria-label="Choices of this person" className={cls(styles.words)}>
        {words.map((word) => {
          const said = opposite(person, word);
          return (
            <li key={targetWords(word)} className={cls(styles.word)}>
              <div>
                <Lamp tone={word.opted_out ? 'held' : 'good'}>{word.opted_out ? 'Does not want' : 'Wants again'}</Lamp>{' '}
                {targetWords(word)}
              </div>
              <div className={cls(styles.quiet)}>
                Said {wayWords(word.way)}
                {word.by !== null && `, for them by ${who(word.by)}`}, <Time at={word.at} />
              </div>
              {said && (
                <Actions>
                  <Button off={off} isDisabled={change.isPending} onPress={() => change.mutate(said)}>
                    {word.opted_out ? 'Undo opt-out' : 'Opt out again'}
                  </Button>
                </Actions>
              )}
            </li>
          );
        })}
      </ul>
      {exempt.length > 0 && <p>They still get transactional notifications: {exempt.join(', ')}.</p>}
      <p>
        <Link to="/workspaces/$w/deliveries" params={{ w: workspace }} search={{ person }}>
          Deliveries to this person
        </Link>
      </p>
      {call && <Curl call={{ method: 'POST', path: `/v1/workspaces/${workspace}/consents`, body: call }} />}
    </>
  );
}
