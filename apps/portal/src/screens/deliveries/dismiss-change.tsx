import { useMutation } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { api, bodyOf, type Schemas } from '../../api/client.ts';
import { useMay } from '../../api/me.ts';
import { queryClient } from '../../api/query-client.ts';
import { EVERY_WORKSPACE } from '../../frame/last-workspace.ts';
import { Problem } from '../../ui/answers.tsx';
import { Button } from '../../ui/button.tsx';
import { Curl } from '../../ui/curl.tsx';
import { say, undoing } from '../../ui/notices.ts';
import { Actions } from '../../ui/page.tsx';

const LETTERS = '/v1/workspaces/{workspace}/dead-letters';

const isOld = (): Promise<void> => queryClient.invalidateQueries({ queryKey: [LETTERS] });

/** Closes a record of a source that could not be appended to the log, and opens it again. */
export function DismissChange({ letter }: { readonly letter: Schemas['DeadLetter'] }): ReactNode {
  const { id, workspace: own, dismissed_at: dismissedAt } = letter;
  const workspace = own ?? EVERY_WORKSPACE;
  const off = useMay('operate', own);
  const path = { workspace, id };
  const dismiss = () =>
    bodyOf(api.POST('/v1/workspaces/{workspace}/receipts/{id}/dismiss', { params: { path }, body: {} }));
  const reopen = () =>
    bodyOf(api.POST('/v1/workspaces/{workspace}/receipts/{id}/reopen', { params: { path }, body: {} }));
  const isDismissed = dismissedAt !== null;
  const act = useMutation({
    mutationFn: () => (isDismissed ? reopen() : dismiss()),
    onSuccess: () =>
      isDismissed
        ? say('The record is open again.', undoing(dismiss, isOld))
        : say('Dismissed.', undoing(reopen, isOld)),
    onSettled: isOld,
  });
  return (
    <>
      <p>
        Carillon could not append this record to its log. A redrive would fail again. Reading of the source continued
        with the next record.
      </p>
      {!isDismissed && <p>Dismiss the record after you have read the reason. Nobody is notified.</p>}
      {act.error && <Problem error={act.error} />}
      <Actions>
        <Button kind={isDismissed ? 'plain' : 'main'} off={off} isDisabled={act.isPending} onPress={() => act.mutate()}>
          {isDismissed ? 'Reopen' : 'Dismiss'}
        </Button>
      </Actions>
      <Curl
        call={{
          method: 'POST',
          path: `/v1/workspaces/${workspace}/receipts/${id}/${isDismissed ? 'reopen' : 'dismiss'}`,
          body: {},
        }}
      />
    </>
  );
}
