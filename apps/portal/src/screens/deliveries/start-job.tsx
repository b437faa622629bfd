import { useMutation } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { useMay } from '../../api/me.ts';
import { Problem } from '../../ui/answers.tsx';
import { Button } from '../../ui/button.tsx';
import { cls } from '../../ui/class-names.ts';
import { Curl } from '../../ui/curl.tsx';
import type { Call } from '../../ui/curl-words.ts';
import { Dialog } from '../../ui/dialog.tsx';
import { Foot, JobProgress } from './job-progress.tsx';
import styles from './deliveries.module.css';

/** A dialog that asks before a job begins, and then shows how far it is. */
export function JobDialog({
  title,
  workspace,
  changes,
  children,
  onClose,
}: {
  readonly title: string;
  readonly workspace: string;
  /** The path of the lists that are old once it is over. */
  readonly changes: string;
  /** The question. */
  readonly children: (onJob: (id: string) => void, leave: () => void) => ReactNode;
  /** `isBegun`: the job goes on, or has ended. */
  readonly onClose: (isBegun: boolean) => void;
}): ReactNode {
  const [job, setJob] = useState<string | null>(null);
  const close = (): void => onClose(job !== null);
  return (
    <Dialog title={title} isOpen onClose={close}>
      {job === null ? (
        children(setJob, close)
      ) : (
        <JobProgress workspace={workspace} id={job} changes={changes} onClose={close} />
      )}
    </Dialog>
  );
}

/** What a job is about, the same for a shell, and the button that begins it. */
export function StartJob({
  workspace,
  verb,
  call,
  start,
  isOff = false,
  children,
  onJob,
  onRefused,
  onLeave,
}: {
  readonly workspace: string;
  readonly verb: string;
  readonly call: Call;
  readonly start: () => Promise<{ readonly id: string }>;
  /** Why not, the words above say. */
  readonly isOff?: boolean;
  readonly children: ReactNode;
  readonly onJob: (id: string) => void;
  readonly onRefused?: () => void;
  readonly onLeave: () => void;
}): ReactNode {
  const off = useMay('operate', workspace);
  const started = useMutation({
    mutationFn: start,
    onSuccess: ({ id }) => onJob(id),
    onError: () => onRefused?.(),
  });
  return (
    <div className={cls(styles.bulk)}>
      {children}
      {started.error && <Problem error={started.error} />}
      <Curl call={call} />
      <Foot>
        <Button onPress={onLeave}>Leave it</Button>
        <Button kind="main" off={off} isDisabled={isOff || started.isPending} onPress={() => started.mutate()}>
          {verb}
        </Button>
      </Foot>
    </div>
  );
}
