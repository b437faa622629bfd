import { useMutation } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { api, bodyOf, type Schemas } from '../../api/client.ts';
import { useMay } from '../../api/me.ts';
import { queryClient } from '../../api/query-client.ts';
import { Problem } from '../../ui/answers.tsx';
import { Button } from '../../ui/button.tsx';
import { ChosenBar } from '../../ui/chosen-bar.tsx';
import { Curl } from '../../ui/curl.tsx';
import type { Call } from '../../ui/curl-words.ts';
import { say, undoing } from '../../ui/notices.ts';
import { Actions, Quiet } from '../../ui/page.tsx';
import { RECEIPTS } from './queries.ts';
import { JobDialog, StartJob } from './start-job.tsx';

type Receipt = Schemas['ParkedReceipt'];

const isOld = (): Promise<void> => queryClient.invalidateQueries({ queryKey: [RECEIPTS] });
const dismiss = (workspace: string, id: string) =>
  bodyOf(
    api.POST('/v1/workspaces/{workspace}/receipts/{id}/dismiss', { params: { path: { workspace, id } }, body: {} }),
  );
const reopen = (workspace: string, id: string) =>
  bodyOf(
    api.POST('/v1/workspaces/{workspace}/receipts/{id}/reopen', { params: { path: { workspace, id } }, body: {} }),
  );

/** What an operator can do about one receipt: say that nothing is to be done, take that back, or have it looked at once more. */
export function ReceiptActions({
  receipt,
  workspace: asked,
}: {
  readonly receipt: Receipt;
  /** Of the address: of all that one may see it is `-`. */
  readonly workspace: string;
}): ReactNode {
  const { id, workspace } = receipt;
  const off = useMay('operate', workspace);
  const isDismissed = receipt.dismissed_at !== null;
  const act = useMutation({
    mutationFn: async (what: 'dismiss' | 'reopen' | 'place'): Promise<void> => {
      if (what === 'dismiss') await dismiss(asked, id);
      else if (what === 'reopen') await reopen(asked, id);
      else await bodyOf(api.POST('/v1/dead-letters/{id}/redrive', { params: { path: { id } }, body: {} }));
    },
    onSuccess(_done, what) {
      if (what === 'place') say('It is looked at once more.');
      else if (what === 'reopen')
        say(
          'It waits again.',
          undoing(() => dismiss(asked, id), isOld),
        );
      else
        say(
          'Dismissed. It moves no delivery.',
          undoing(() => reopen(asked, id), isOld),
        );
    },
    onSettled: isOld,
  });
  const calls: readonly Call[] = isDismissed
    ? [{ method: 'POST', path: `/v1/workspaces/${asked}/receipts/${id}/reopen`, body: {} }]
    : [
        { method: 'POST', path: `/v1/workspaces/${asked}/receipts/${id}/dismiss`, body: {} },
        { method: 'POST', path: `/v1/dead-letters/${id}/redrive`, body: {} },
      ];
  return (
    <>
      {act.error && <Problem error={act.error} />}
      {!isDismissed && (
        <p>To dismiss it says that you have looked and nothing is to be done: no delivery is moved by it.</p>
      )}
      <Actions>
        {isDismissed ? (
          <Button off={off} isDisabled={act.isPending} onPress={() => act.mutate('reopen')}>
            Have it wait again
          </Button>
        ) : (
          <>
            <Button off={off} isDisabled={act.isPending} onPress={() => act.mutate('place')}>
              Try to place it again
            </Button>
            <Button kind="main" off={off} isDisabled={act.isPending} onPress={() => act.mutate('dismiss')}>
              Dismiss
            </Button>
          </>
        )}
      </Actions>
      <Curl calls={calls} />
    </>
  );
}

/** What can be done with the receipts that were chosen in the list. */
export function ChosenReceipts({
  workspace,
  chosen,
  onClear,
}: {
  readonly workspace: string;
  readonly chosen: readonly Receipt[];
  readonly onClear: () => void;
}): ReactNode {
  const off = useMay('operate', workspace);
  const [ids, setIds] = useState<string[] | null>(null);
  const isOpen = chosen.every((one) => one.dismissed_at === null);
  const words = `${ids?.length.toLocaleString('en')} ${ids?.length === 1 ? 'receipt' : 'receipts'}`;
  return (
    <>
      <ChosenBar count={chosen.length} onClear={onClear}>
        {isOpen ? (
          <Button off={off} onPress={() => setIds(chosen.map(({ id }) => id))}>
            Dismiss…
          </Button>
        ) : (
          <Quiet>Some of them are dismissed already.</Quiet>
        )}
      </ChosenBar>
      {ids !== null && (
        <JobDialog
          title="Dismiss what is chosen"
          workspace={workspace}
          changes={RECEIPTS}
          onClose={(isBegun) => {
            setIds(null);
            if (isBegun) onClear();
          }}
        >
          {(onJob, leave) => (
            <StartJob
              workspace={workspace}
              verb={`Dismiss ${words}`}
              call={{ method: 'POST', path: `/v1/workspaces/${workspace}/receipts/dismiss`, body: { ids } }}
              start={() =>
                bodyOf(
                  api.POST('/v1/workspaces/{workspace}/receipts/dismiss', {
                    params: { path: { workspace } },
                    body: { ids },
                  }),
                )
              }
              onJob={onJob}
              onLeave={leave}
            >
              <p>
                {words}: nothing is to be done about them. No delivery is moved, nobody is told of anything, and each
                can be made to wait again.
              </p>
            </StartJob>
          )}
        </JobDialog>
      )}
    </>
  );
}
