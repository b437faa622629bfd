import { useMutation, useQuery } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { api, bodyOf } from '../../api/client.ts';
import { useMay } from '../../api/me.ts';
import { Loading, Problem } from '../../ui/answers.tsx';
import { Button } from '../../ui/button.tsx';
import { cls } from '../../ui/class-names.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { Foot, JobProgress } from './job-progress.tsx';
import styles from './deliveries.module.css';

type Props = { readonly workspace: string; readonly onClose: () => void };

/** Puts all open records on their topics once more, as a job; how many these are is asked first. */
export function RedriveAll({ workspace, onClose }: Props): ReactNode {
  const [job, setJob] = useState<string | null>(null);
  return (
    <Dialog title="Redrive all that are open" isOpen onClose={onClose}>
      {job === null ? (
        <Question workspace={workspace} onClose={onClose} onJob={setJob} />
      ) : (
        <JobProgress
          workspace={workspace}
          id={job}
          changes="/v1/workspaces/{workspace}/dead-letters"
          onClose={onClose}
        />
      )}
    </Dialog>
  );
}

function Question({ workspace, onClose, onJob }: Props & { readonly onJob: (id: string) => void }): ReactNode {
  const off = useMay('operate', workspace);
  const params = { path: { workspace } };
  const { data, error, refetch } = useQuery({
    queryKey: ['/v1/workspaces/{workspace}/dead-letters/count', workspace, 'asked'],
    queryFn: ({ signal }) => bodyOf(api.GET('/v1/workspaces/{workspace}/dead-letters/count', { params, signal })),
    staleTime: 0,
    gcTime: 0,
  });
  const start = useMutation({
    mutationFn: (expected: number) =>
      bodyOf(api.POST('/v1/workspaces/{workspace}/dead-letters/redrive', { params, body: { filter: {}, expected } })),
    onSuccess: ({ id }) => onJob(id),
    onError: () => void refetch(),
  });
  if (error) return <Problem error={error} onRetry={() => void refetch()} />;
  if (!data) return <Loading what="the count" rows={2} />;
  const words = `${data.count.toLocaleString('en')} ${data.count === 1 ? 'record' : 'records'}`;
  return (
    <div className={cls(styles.bulk)}>
      {data.count === 0 ? (
        <p>None is open: each was redriven or dismissed.</p>
      ) : (
        <p>
          {words} that nobody has redriven or dismissed. Whom they tell is known once they are processed; nobody is told
          twice of the same.
        </p>
      )}
      {data.receipts > 0 && (
        <p>
          {data.receipts.toLocaleString('en')} parked {data.receipts === 1 ? 'receipt is' : 'receipts are'} left out:
          most would fit no better the next time. Each is looked at by itself, under Receipts.
        </p>
      )}
      {data.more && (
        <p role="alert">
          More are open than one job takes ({data.ceiling.toLocaleString('en')}): it takes none of them. Redrive by time
          on the command line: <code>npx carillon dead-letters redrive --all --since 1h</code>
        </p>
      )}
      {start.error && <Problem error={start.error} />}
      <Foot>
        <Button onPress={onClose}>{data.count === 0 ? 'Close' : 'Leave it'}</Button>
        {data.count > 0 && (
          <Button
            kind="main"
            off={off}
            isDisabled={data.more || start.isPending}
            onPress={() => start.mutate(data.count)}
          >
            Redrive {words}
          </Button>
        )}
      </Foot>
    </div>
  );
}
