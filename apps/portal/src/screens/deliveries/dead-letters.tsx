import { useMutation } from '@tanstack/react-query';
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router';
import { useMemo, useState, type ReactNode } from 'react';
import { api, bodyOf, type Schemas } from '../../api/client.ts';
import { useLiveList } from '../../api/live-list.ts';
import { useMay, useWho } from '../../api/me.ts';
import { queryClient } from '../../api/query-client.ts';
import { EVERY_WORKSPACE } from '../../frame/last-workspace.ts';
import { Empty, Problem } from '../../ui/answers.tsx';
import { Button } from '../../ui/button.tsx';
import { AskFirst } from '../../ui/ask-first.tsx';
import { Curl } from '../../ui/curl.tsx';
import { ListScreen, type Columns } from '../../ui/list-screen.tsx';
import { Actions } from '../../ui/page.tsx';
import { lazyPart } from '../../ui/part.tsx';
import { Panel } from '../../ui/split.tsx';
import { humane } from '../../ui/state-words.ts';
import { Facts, Id } from '../../ui/text.tsx';
import { Time } from '../../ui/time.tsx';
import { say } from '../../ui/notices.ts';
import { Sentence } from '../../ui/sentence.tsx';
import { useLetter } from '../../ui/use-letter.ts';
import { DismissChange } from './dismiss-change.tsx';
import { letterWords, peopleWords } from './letter-words.ts';
import { Queues } from './queues.tsx';

const RedriveAll = lazyPart(() => import('./redrive.tsx').then(({ RedriveAll: loaded }) => loaded));
const ChosenLetters = lazyPart(() => import('./redrive.tsx').then(({ ChosenLetters: loaded }) => loaded));

type DeadLetter = Schemas['DeadLetter'];
const LETTERS = '/v1/workspaces/{workspace}/dead-letters';
const FROM = '/workspaces/$w/deliveries/dead-letters';

const SHOWN = [
  { id: 'any', name: 'All of them' },
  { id: 'false', name: 'Not redriven' },
  { id: 'true', name: 'Redriven' },
];

const keyOf = ({ id }: DeadLetter): string => id;
const standingOf = (letter: DeadLetter): string =>
  letter.dismissed_at !== null ? 'Dismissed' : letter.redriven_at !== null ? 'Redriven' : 'Open';
const COLUMNS: Columns<DeadLetter> = {
  what: standingOf,
  who: letterWords,
  about: ({ reason }) => reason,
  time: ({ at }) => <Time at={at} ago />,
};

/** Records that could never be processed, and the way to try them again: one, or all that are open. */
export function DeadLetters(): ReactNode {
  const { w } = useParams({ from: FROM });
  const { open, redriven } = useSearch({ from: FROM });
  const navigate = useNavigate({ from: FROM });
  const off = useMay('operate', w);
  const shown = redriven === 'true' || redriven === 'false' ? redriven : undefined;
  const load = useMemo(
    () => (cursor: string | null, signal: AbortSignal) =>
      bodyOf(
        api.GET(LETTERS, {
          params: {
            path: { workspace: w },
            query: { limit: 50, ...(shown && { redriven: shown }), ...(cursor !== null && { cursor }) },
          },
          signal,
        }),
      ),
    [w, shown],
  );
  const followed = { workspace: w, topic: 'dead-letters' } as const;
  const list = useLiveList(LETTERS, `${w} ${shown ?? ''}`, load, keyOf, followed);
  const filter = shown === undefined ? {} : { redriven: shown };
  return (
    <ListScreen
      title="Dead letters"
      lead="Events and messages that Carillon could not process. Nothing else waits for them."
      tabs={<Queues workspace={w} />}
      what="dead letters"
      list={list}
      keyOf={keyOf}
      columns={COLUMNS}
      filters={[
        {
          menu: 'Shown',
          options: SHOWN,
          value: shown ?? 'any',
          onChoose: (id) => void navigate({ search: id === 'any' ? {} : { redriven: id }, replace: true }),
        },
      ]}
      actions={[
        w !== EVERY_WORKSPACE && {
          name: 'Redrive all open records…',
          off,
          renderDialog: (close) => <RedriveAll workspace={w} onClose={close} />,
        },
      ]}
      selection={{ scope: `${w} ${shown ?? ''}`, bar: ChosenLetters }}
      open={open ?? null}
      onOpen={(id) => void navigate({ search: { ...filter, open: id }, replace: true })}
      onClose={() => void navigate({ search: filter, replace: true })}
      panelLabel="Dead letter"
      renderPanel={({ key, item, isListRead, isChoosing, onClose }) => (
        <Panel id={key} title="Dead letter" onClose={onClose}>
          <Letter key={key} letter={item} isListRead={isListRead} isChoosing={isChoosing} />
        </Panel>
      )}
      renderEmpty={() =>
        shown === undefined ? (
          <Empty title="No dead letters">Records that Carillon cannot process appear here, each with its reason.</Empty>
        ) : (
          <Empty
            title="No dead letter matches"
            action={<Button onPress={() => void navigate({ search: {}, replace: true })}>Show all dead letters</Button>}
          >
            The filter shows records that are {shown === 'true' ? 'redriven' : 'not redriven'}.
          </Empty>
        )
      }
    />
  );
}

function Letter({
  letter,
  isListRead,
  isChoosing,
}: {
  readonly letter: DeadLetter | undefined;
  readonly isListRead: boolean;
  /** Rows are chosen: a letter of the keyboard is about those. */
  readonly isChoosing: boolean;
}): ReactNode {
  if (letter) return <LetterFacts letter={letter} isChoosing={isChoosing} />;
  return isListRead ? <p>This record is not in the list: a filter leaves it out, or it is further down.</p> : null;
}

function LetterFacts({ letter, isChoosing }: { readonly letter: DeadLetter; readonly isChoosing: boolean }): ReactNode {
  const { workspace, stage, position, reason, at } = letter;
  const who = useWho(letter.redriven_by, letter.dismissed_by);
  return (
    <>
      <p>
        <Sentence text={reason} />
      </p>
      <Facts
        facts={[
          ['Partner', letter.partner],
          ['Notification', letter.rule ?? letter.notification],
          ['Person', letter.person === null ? null : peopleWords(letter)],
          [
            'Event',
            letter.event_id === null || workspace === null ? null : (
              <Link key="event" to="/workspaces/$w/events/$id" params={{ w: workspace, id: letter.event_id }}>
                {letter.event_id}
              </Link>
            ),
          ],
          ['Failed in', humane(stage)],
          ['Record', <Id key="position">{position}</Id>],
          ['Since', <Time key="at" at={at} />],
          ['Workspace', workspace ?? 'none: it belongs to the deployment'],
          [
            'Redriven',
            letter.redriven_at === null ? null : (
              <span key="redriven">
                <Time at={letter.redriven_at} /> by {who(letter.redriven_by)}
              </span>
            ),
          ],
          [
            'Dismissed',
            letter.dismissed_at === null ? null : (
              <span key="dismissed">
                <Time at={letter.dismissed_at} /> by {who(letter.dismissed_by)}
              </span>
            ),
          ],
        ]}
      />
      {stage === 'append' ? <DismissChange letter={letter} /> : <Redrive letter={letter} isChoosing={isChoosing} />}
    </>
  );
}

function Redrive({ letter, isChoosing }: { readonly letter: DeadLetter; readonly isChoosing: boolean }): ReactNode {
  const { id, workspace } = letter;
  const off = useMay('operate', workspace);
  const redrive = useMutation({
    mutationFn: () => bodyOf(api.POST('/v1/dead-letters/{id}/redrive', { params: { path: { id } }, body: {} })),
    onSuccess: () => say('The record is processed again.'),
    onSettled: () => queryClient.invalidateQueries({ queryKey: [LETTERS] }),
  });
  const [isAsked, setAsked] = useState(false);
  const go = (): void => {
    if (off === null && !redrive.isPending) setAsked(true);
  };
  useLetter('R', () => {
    if (!isChoosing) go();
  });
  return (
    <>
      <p>
        {letter.redrive === null
          ? 'This record cannot be redriven, because it cannot be read any more.'
          : `Redrive: ${letter.redrive}`}{' '}
        If the cause is still there, the record comes back here.
      </p>
      {redrive.error && <Problem error={redrive.error} />}
      <AskFirst
        asked={
          isAsked
            ? {
                verb: 'Redrive',
                about: `${letter.redrive ?? '1 record.'} Nobody is notified twice.`,
              }
            : null
        }
        isPending={redrive.isPending}
        onDo={() => {
          setAsked(false);
          redrive.mutate();
        }}
        onLeave={() => setAsked(false)}
      >
        <Actions>
          <Button kind="main" off={off} isDisabled={redrive.isPending} onPress={go}>
            Redrive
          </Button>
        </Actions>
      </AskFirst>
      <Curl call={{ method: 'POST', path: `/v1/dead-letters/${id}/redrive`, body: {} }} />
    </>
  );
}
