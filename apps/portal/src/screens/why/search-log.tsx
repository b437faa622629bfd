import { useMutation, useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { useMay } from '../../api/me.ts';
import { Problem } from '../../ui/answers.tsx';
import { Button } from '../../ui/button.tsx';
import { Curl } from '../../ui/curl.tsx';
import { Actions, Card } from '../../ui/page.tsx';
import { Sentence } from '../../ui/sentence.tsx';
import { runQuery, searchBody, startSearch, type Run } from '../runs/queries.ts';
import { RunProgress } from '../runs/run-progress.tsx';
import { reasonText } from '../runs/run-text.ts';

/** Searches the whole log for a person, and shows how far the search is or what it found. */
export function SearchLog({
  workspace,
  who,
  search,
  onSearch,
}: {
  readonly workspace: string;
  readonly who: string;
  /** The search that the question is about. */
  readonly search: string | undefined;
  readonly onSearch: (id: string) => void;
}): ReactNode {
  const off = useMay(['configure', 'operate'], workspace);
  const {
    data: run,
    error,
    refetch,
  } = useQuery({
    ...runQuery(workspace, search ?? ''),
    enabled: search !== undefined,
  });
  const start = useMutation({ mutationFn: () => startSearch(workspace, who), onSuccess: ({ id }) => onSearch(id) });
  const isUnderWay = run !== undefined && run.ended_at === null;
  return (
    <Card title="The whole log">
      {error && <Problem error={error} onRetry={() => void refetch()} />}
      {search === undefined && (
        <p>
          The answer above reads only the newest events. A search reads all events of the workspace and keeps the newest
          1,000 that contain this text. The text is stored encrypted, and only until the search ends.
        </p>
      )}
      {run && (isUnderWay ? <RunProgress run={run} onChange={() => void refetch()} /> : <Ended run={run} />)}
      {start.error && <Problem error={start.error} />}
      {!isUnderWay && (
        <>
          <Actions>
            <Button off={off} isDisabled={start.isPending} onPress={() => start.mutate()}>
              {search === undefined ? 'Search the whole log' : 'Search again'}
            </Button>
          </Actions>
          <Curl call={{ method: 'POST', path: `/v1/workspaces/${workspace}/runs`, body: searchBody(who) }} />
        </>
      )}
    </Card>
  );
}

const Ended = ({ run }: { readonly run: Run }): ReactNode => (
  <>
    <p role="status">{run.sentence ?? reasonText(run)}</p>
    {run.notes.map((note) => (
      <p key={note}>
        <Sentence text={note} />
      </p>
    ))}
  </>
);
