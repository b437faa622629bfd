import { useInfiniteQuery, useMutation } from '@tanstack/react-query';
import { useParams } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { api, bodyOf, type Schemas } from '../../api/client.ts';
import { useMay } from '../../api/me.ts';
import { queryClient } from '../../api/query-client.ts';
import { Empty, Loading, Problem } from '../../ui/answers.tsx';
import { Button } from '../../ui/button.tsx';
import { Actions, PageBody, PageHead, Quiet, Row, Rows } from '../../ui/page.tsx';
import { humane } from '../../ui/state-words.ts';
import { Id } from '../../ui/text.tsx';
import { Time } from '../../ui/time.tsx';
import { say } from '../../ui/toast.tsx';
import { Queues } from './queues.tsx';

type DeadLetter = Schemas['DeadLetter'];
const LETTERS = '/v1/workspaces/{workspace}/dead-letters';

/** Records that could never be processed. */
export function DeadLetters(): ReactNode {
  const { w } = useParams({ from: '/workspaces/$w/deliveries/dead-letters' });
  const { data, error, refetch, hasNextPage, isFetchingNextPage, fetchNextPage } = useInfiniteQuery({
    queryKey: [LETTERS, w],
    queryFn: ({ pageParam, signal }) =>
      bodyOf(
        api.GET('/v1/workspaces/{workspace}/dead-letters', {
          params: { path: { workspace: w }, query: { limit: 50, ...(pageParam !== null && { cursor: pageParam }) } },
          signal,
        }),
      ),
    initialPageParam: null as string | null,
    getNextPageParam: ({ next }) => next,
  });
  const letters = data?.pages.flatMap(({ items }) => items);
  return (
    <>
      <PageHead
        title="Dead letters"
        lead="Records that cannot be processed stop nothing: they stand here until somebody looks."
      />
      <Queues workspace={w} />
      <PageBody>
        {error && <Problem error={error} onRetry={() => void refetch()} />}
        {!letters && !error && <Loading what="dead letters" />}
        {letters?.length === 0 && (
          <Empty title="None">Records that can never be processed would stand here, each with the reason.</Empty>
        )}
        {letters && letters.length > 0 && (
          <Rows label="Dead letters">
            {letters.map((letter) => (
              <Letter key={letter.id} letter={letter} />
            ))}
          </Rows>
        )}
        {hasNextPage && (
          <Button isDisabled={isFetchingNextPage} onPress={() => void fetchNextPage()}>
            Show older ones
          </Button>
        )}
      </PageBody>
    </>
  );
}

function Letter({ letter }: { readonly letter: DeadLetter }): ReactNode {
  const off = useMay('operate', letter.workspace ?? null);
  const redrive = useMutation({
    mutationFn: () =>
      bodyOf(api.POST('/v1/dead-letters/{id}/redrive', { params: { path: { id: letter.id } }, body: {} })),
    onSuccess: () => say('Its record is on the log once more.'),
    onSettled: () => queryClient.invalidateQueries({ queryKey: [LETTERS] }),
  });
  return (
    <Row>
      <div>
        <h2>{letter.reason}</h2>
        <Quiet>
          {humane(letter.stage)} · <Id>{letter.position}</Id> · <Time at={letter.at} />
          {letter.redriven_at !== null && (
            <>
              {' '}
              · put on the log once more by {letter.redriven_by ?? 'somebody'}, <Time at={letter.redriven_at} />
            </>
          )}
          {letter.dismissed_at !== null && <> · dismissed by {letter.dismissed_by ?? 'somebody'}</>}
        </Quiet>
        {redrive.error && <Problem error={redrive.error} />}
      </div>
      <Actions>
        <Button off={off} isDisabled={redrive.isPending} onPress={() => redrive.mutate()}>
          Redrive
        </Button>
      </Actions>
    </Row>
  );
}
