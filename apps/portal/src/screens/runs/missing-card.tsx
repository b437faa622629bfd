import { useQuery } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { useMay } from '../../api/me.ts';
import { Loading, Problem } from '../../ui/answers.tsx';
import { Button } from '../../ui/button.tsx';
import { Dialog } from '../../ui/dialog.tsx';
import { Actions, Card } from '../../ui/page.tsx';
import { lazyPart, Part } from '../../ui/part.tsx';
import type { Begun } from '../jobs/by-workspace.ts';
import { JobProgress } from '../jobs/job-progress.tsx';
import { JOBS, sendingJobQuery, stopSending } from './missing-queries.ts';
import { sendingText } from './missing-text.ts';
import type { Run } from './queries.ts';

const SendMissing = lazyPart(() => import('./send-missing.tsx').then(({ SendMissing: loaded }) => loaded));

/** Sends the missing messages of a run after its edit is published, and shows the job that does. */
export function MissingCard({ run }: { readonly run: Run }): ReactNode {
  const { id, workspace } = run;
  const off = useMay('operate', workspace);
  const { data: last, error } = useQuery(sendingJobQuery(run));
  const [isOpen, setOpen] = useState(false);
  const [job, setJob] = useState<Begun | null>(null);
  const close = (): void => {
    setOpen(false);
    setJob(null);
  };
  const show = (jobId: string): void => {
    setJob({ jobs: [{ workspace, id: jobId }], refused: [] });
    setOpen(true);
  };
  return (
    <Card title="Missing messages">
      <p>
        After this edit is published, messages that it adds and that nobody has received can be sent. Nobody is notified
        twice.
      </p>
      {error && <Problem error={error} />}
      {last && <p role="status">{sendingText(last)}</p>}
      <Actions>
        {last && <Button onPress={() => show(last.id)}>Show progress</Button>}
        <Button off={off} onPress={() => setOpen(true)}>
          Send missing messages
        </Button>
      </Actions>
      {isOpen && (
        <Dialog title="Send missing messages" isOpen onClose={close}>
          {job === null ? (
            <Part loading={<Loading what="missing messages" rows={3} />}>
              <SendMissing run={run} onJob={setJob} onLeave={close} />
            </Part>
          ) : (
            <JobProgress
              begun={job}
              changes={JOBS}
              stopping={{
                call: { method: 'POST', path: `/v1/workspaces/${workspace}/runs/${id}/stop`, body: {} },
                stop: () => stopSending(run),
              }}
              onClose={close}
            />
          )}
        </Dialog>
      )}
    </Card>
  );
}
