import { useMutation, useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';
import { useState, type ReactNode } from 'react';
import { api, bodyOf, type Schemas } from '../../api/client.ts';
import { meQuery, useMay } from '../../api/me.ts';
import { queryClient } from '../../api/query-client.ts';
import { statusQuery } from '../../api/status.ts';
import { forgetWorkspace } from '../../frame/last-workspace.ts';
import { FaultList } from '../../faults/fault-list.tsx';
import { Loading, Problem } from '../../ui/answers.tsx';
import { Button } from '../../ui/button.tsx';
import { Confirm } from '../../ui/confirm.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { say } from '../../ui/notices.ts';
import { Actions, Card } from '../../ui/page.tsx';
import { counted } from '../drafts/change-words.ts';
import { workspacesQuery } from '../promote/queries.ts';
import { removalWords } from './make-workspace.ts';

type Removal = Schemas['WorkspaceRemoval'];

/** The way to take a workspace away whole. */
export function RemoveWorkspace({ workspace }: { readonly workspace: string }): ReactNode {
  const off = useMay('people', workspace);
  const [isAsked, setAsked] = useState(false);
  return (
    <Card title="Remove this workspace">
      <p>
        Deletes the workspace and everything in it immediately, without a draft. You see what will be deleted before you
        confirm.
      </p>
      <Actions>
        <Button kind="danger" off={off} onPress={() => setAsked(true)}>
          Remove {workspace}…
        </Button>
      </Actions>
      {isAsked && <Question workspace={workspace} onClose={() => setAsked(false)} />}
    </Card>
  );
}

function Question({ workspace, onClose }: { readonly workspace: string; readonly onClose: () => void }): ReactNode {
  const { data, error, refetch } = useQuery({
    queryKey: ['/v1/workspaces/{workspace}/removal', workspace],
    queryFn: ({ signal }) =>
      bodyOf(api.GET('/v1/workspaces/{workspace}/removal', { params: { path: { workspace } }, signal })),
    staleTime: 0,
    gcTime: 0,
  });
  if (data && data.faults.length === 0) return <Sure counts={data} onClose={onClose} onMoved={() => void refetch()} />;
  return (
    <Dialog
      title={`Remove ${workspace}?`}
      isOpen
      onClose={onClose}
      foot={<Button onPress={onClose}>{data ? 'Close' : 'Cancel'}</Button>}
    >
      {error && <Problem error={error} onRetry={() => void refetch()} />}
      {!data && !error && <Loading what="what would be deleted" rows={3} />}
      {data && (
        <>
          <p>Other resources still need this workspace:</p>
          <FaultList faults={data.faults} isTitled tone="todo" />
        </>
      )}
    </Dialog>
  );
}

function Sure({
  counts,
  onClose,
  onMoved,
}: {
  readonly counts: Removal;
  readonly onClose: () => void;
  /** It was changed since it was counted, perhaps. */
  readonly onMoved: () => void;
}): ReactNode {
  const { workspace, number } = counts;
  const navigate = useNavigate();
  const go = useMutation({
    mutationFn: () =>
      bodyOf(api.POST('/v1/workspaces/{workspace}/remove', { params: { path: { workspace } }, body: { number } })),
    async onSuccess({ new_number: made }) {
      forgetWorkspace(workspace);
      await navigate({ to: '/workspaces', replace: true });
      say(`${workspace} and everything in it are deleted, in configuration ${made}.`);
      await Promise.all(
        [statusQuery, workspacesQuery, meQuery].map(({ queryKey }) => queryClient.invalidateQueries({ queryKey })),
      );
    },
    onError: onMoved,
  });
  return (
    <Confirm
      title={`Remove ${workspace}?`}
      verb={`Remove ${workspace}`}
      call={{ method: 'POST', path: `/v1/workspaces/${workspace}/remove`, body: { number } }}
      error={go.error}
      isPending={go.isPending}
      typed={workspace}
      onDo={() => go.mutate()}
      onClose={onClose}
    >
      {removalWords(counts)}{' '}
      {counts.waiting > 0 && (
        <b>{counted(counts.waiting, 'person waits', 'people wait')} for a message that will not be sent.</b>
      )}{' '}
      {counts.waits.map((wait) => `${wait}. `)}A later workspace of the same name starts empty: without history, roles
      or keys.
    </Confirm>
  );
}
