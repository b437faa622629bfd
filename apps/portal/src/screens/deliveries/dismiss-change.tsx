import { useMutation } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { api, bodyOf, type Schemas } from '../../api/client.ts';
import { useMay } from '../../api/me.ts';
import { queryClient } from '../../api/query-client.ts';
import { EVERY_WORKSPACE } from '../../frame/last-workspace.ts';
import { Problem } from '../../ui/answers.tsx';
import { Button } from '../../ui/button.tsx';
import { Curl } from '../../ui/curl.tsx';
import { say } from '../../ui/notices.ts';
import { Actions } from '../../ui/page.tsx';

const LETTERS = '/v1/workspaces/{workspace}/dead-letters';

/** Dismisses a change that is above a limit. */
export function DismissChange({ letter }: { readonly letter: Schemas['DeadLetter'] }): ReactNode {
  const { id, workspace: own, dismissed_at: dismissedAt } = letter;
  const workspace = own ?? EVERY_WORKSPACE;
  const off = useMay('operate', own);
  const dismiss = useMutation({
    mutationFn: () =>
      bodyOf(
        api.POST('/v1/workspaces/{workspace}/receipts/{id}/dismiss', { params: { path: { workspace, id } }, body: {} }),
      ),
    onSuccess: () => say('Dismissed.'),
    onSettled: () => queryClient.invalidateQueries({ queryKey: [LETTERS] }),
  });
  return (
    <>
      <p>The log does not have the change, because it is above a limit. So it cannot be redriven.</p>
      {dismiss.error && <Problem error={dismiss.error} />}
      {dismissedAt === null && (
        <>
          <Actions>
            <Button kind="main" off={off} isDisabled={dismiss.isPending} onPress={() => dismiss.mutate()}>
              Dismiss
            </Button>
          </Actions>
          <Curl call={{ method: 'POST', path: `/v1/workspaces/${workspace}/receipts/${id}/dismiss`, body: {} }} />
        </>
      )}
    </>
  );
}
