import { useMutation } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { api, bodyOf, type Schemas } from '../../api/client.ts';
import { useMay, useMayInAll } from '../../api/me.ts';
import { queryClient } from '../../api/query-client.ts';
import { Problem } from '../../ui/answers.tsx';
import { AskFirst } from '../../ui/ask-first.tsx';
import { Button } from '../../ui/button.tsx';
import { ChosenBar } from '../../ui/chosen-bar.tsx';
import { Curl } from '../../ui/curl.tsx';
import type { Call } from '../../ui/curl-words.ts';
import { say, undoing } from '../../ui/notices.ts';
import { Actions, Quiet } from '../../ui/page.tsx';
import { beginEach, groupsOf, inWords, type Group } from '../jobs/by-workspace.ts';
import { RECEIPTS } from './queries.ts';
import { JobDialog, StartJob } from '../jobs/start-job.tsx';

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

/** Actions of an operator on a receipt: dismiss it, reopen it, or process it again. */
export function ReceiptActions({
  receipt,
  workspace: asked,
}: {
  readonly receipt: Receipt;
  /** The workspace in the address; `-` stands for all visible ones. */
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
      if (what === 'place') say('Carillon tries to match the receipt again.');
      else if (what === 'reopen')
        say(
          'The receipt is open again.',
          undoing(() => dismiss(asked, id), isOld),
        );
      else
        say(
          'Dismissed. No delivery changes.',
          undoing(() => reopen(asked, id), isOld),
        );
    },
    onSettled: isOld,
  });
  const [isAsked, setAsked] = useState(false);
  const calls: readonly Call[] = isDismissed
    ? [{ method: 'POST', path: `/v1/workspaces/${asked}/receipts/${id}/reopen`, body: {} }]
    : [
        { method: 'POST', path: `/v1/workspaces/${asked}/receipts/${id}/dismiss`, body: {} },
        { method: 'POST', path: `/v1/dead-letters/${id}/redrive`, body: {} },
      ];
  return (
    <>
      {act.error && <Problem error={act.error} />}
      {!isDismissed && <p>Dismiss the receipt if there is nothing to do. No delivery changes.</p>}
      <AskFirst
        asked={
          isAsked
            ? {
                verb: 'Match again',
                about:
                  'If the receipt matches a delivery now, it changes the state of that delivery. If it reports a bad address, that address is suppressed: 1 person.',
              }
            : null
        }
        isPending={act.isPending}
        onDo={() => {
          setAsked(false);
          act.mutate('place');
        }}
        onLeave={() => setAsked(false)}
      >
        <Actions>
          {isDismissed ? (
            <Button off={off} isDisabled={act.isPending} onPress={() => act.mutate('reopen')}>
              Reopen
            </Button>
          ) : (
            <>
              <Button off={off} isDisabled={act.isPending} onPress={() => setAsked(true)}>
                {' '}
                Match again{' '}
              </Button>
              <Button kind="main" off={off} isDisabled={act.isPending} onPress={() => act.mutate('dismiss')}>
                Dismiss
              </Button>
            </>
          )}
        </Actions>
      </AskFirst>
      <Curl calls={calls} />
    </>
  );
}

const DISMISSED_MANY = '/v1/workspaces/{workspace}/receipts/dismiss';
const dismissMany = ({ workspace, ids }: Group) =>
  bodyOf(api.POST(DISMISSED_MANY, { params: { path: { workspace } }, body: { ids: [...ids] } }));

/** What can be done with the receipts that were chosen in the list. */
export function ChosenReceipts({
  chosen,
  onClear,
}: {
  readonly chosen: readonly Receipt[];
  readonly onClear: () => void;
}): ReactNode {
  const groups = groupsOf(chosen);
  const off = useMayInAll(
    'operate',
    groups.map(({ workspace }) => workspace),
  );
  const [asked, setAsked] = useState<readonly Group[] | null>(null);
  const isOfOne = chosen.every(({ workspace }) => workspace !== null);
  const isOpen = chosen.every((one) => one.dismissed_at === null);
  const count = (asked ?? []).reduce((sum, { ids }) => sum + ids.length, 0);
  const words = `${count.toLocaleString('en')} ${count === 1 ? 'receipt' : 'receipts'}`;
  return (
    <>
      <ChosenBar count={chosen.length} onClear={onClear}>
        {isOpen && isOfOne ? (
          <Button off={off} onPress={() => setAsked(groups)}>
            Dismiss…
          </Button>
        ) : (
          <Quiet>
            {isOpen ? 'Some belong to no workspace. Dismiss those one at a time.' : 'Some are already dismissed.'}
          </Quiet>
        )}
      </ChosenBar>
      {asked !== null && (
        <JobDialog
          title="Dismiss the chosen receipts"
          changes={RECEIPTS}
          onClose={(isBegun) => {
            setAsked(null);
            if (isBegun) onClear();
          }}
        >
          {(onJob, leave) => (
            <StartJob
              workspaces={asked.map(({ workspace }) => workspace)}
              verb={`Dismiss ${words}`}
              calls={asked.map(({ workspace, ids }) => ({
                method: 'POST',
                path: `/v1/workspaces/${workspace}/receipts/dismiss`,
                body: { ids },
              }))}
              start={() => beginEach(asked, dismissMany)}
              onJob={onJob}
              onLeave={leave}
            >
              <p>
                {words}
                {inWords(asked.length)}. No delivery changes and nobody is notified. Each receipt can be reopened.
              </p>
            </StartJob>
          )}
        </JobDialog>
      )}
    </>
  );
}
