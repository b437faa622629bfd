import { useMutation } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { useMay } from '../../api/me.ts';
import { Problem } from '../../ui/answers.tsx';
import { Button } from '../../ui/button.tsx';
import { Curl } from '../../ui/curl.tsx';
import { Actions } from '../../ui/page.tsx';
import { cancelRun, type Run } from './queries.ts';
import { progressText } from './run-text.ts';

const STOPS: Readonly<Record<Run['kind'], string>> = {
  compare: 'Stop comparing',
  verify: 'Stop verifying',
  find: 'Stop searching',
};

/** A run that has not ended: how far it is, and the button that cancels it. */
export function RunProgress({ run, onChange }: { readonly run: Run; readonly onChange: () => void }): ReactNode {
  const off = useMay(['configure', 'operate'], run.workspace);
  const cancel = useMutation({ mutationFn: () => cancelRun(run), onSettled: onChange });
  return (
    <>
      <p role="status">{progressText(run)}</p>
      <progress aria-label="Records read" max={Math.max(1, run.progress.total)} value={run.progress.read} />
      {cancel.error && <Problem error={cancel.error} />}
      <Actions>
        <Button kind="quiet" off={off} isDisabled={cancel.isPending} onPress={() => cancel.mutate()}>
          {STOPS[run.kind]}
        </Button>
      </Actions>
      <Curl call={{ method: 'POST', path: `/v1/workspaces/${run.workspace}/jobs/${run.job}/cancel`, body: {} }} />
    </>
  );
}
