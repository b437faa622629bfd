import { useMutation } from '@tanstack/react-query';
import { useState, type ReactNode } from 'react';
import { useMayInAll } from '../../api/me.ts';
import { Problem } from '../../ui/answers.tsx';
import { Button } from '../../ui/button.tsx';
import { cls } from '../../ui/class-names.ts';
import { Curl } from '../../ui/curl.tsx';
import type { Call } from '../../ui/curl-words.ts';
import { Dialog } from '../../ui/dialog.tsx';
import type { Begun } from './by-workspace.ts';
import { Foot, JobProgress } from './job-progress.tsx';
import styles from './jobs.module.css';

/** A dialog that asks before a job begins, and then shows how far it is. */
export function JobDialog({
  title,
  changes,
  children,
  onClose,
}: {
  readonly title: string;
  /** The path of the lists that are old once it is over. */
  readonly changes: string;
  /** The question. */
  readonly children: (onJob: (begun: Begun) => void, leave: () => void) => ReactNode;
  /** `isBegun`: the job goes on, or has ended. */
  readonly onClose: (isBegun: boolean) => void;
}): ReactNode {
  const [job, setJob] = useState<Begun | null>(null);
  const close = (): void => onClose(job !== null);
  return (
    <Dialog title={title} isOpen onClose={close}>
      {job === null ? children(setJob, close) : <JobProgress begun={job} changes={changes} onClose={close} />}
    </Dialog>
  );
}

/** What a job is about, the same for a shell, and the button that begins it. */
export function StartJob({
  workspaces,
  verb,
  calls,
  start,
  kind = 'main',
  isOff = false,
  children,
  onJob,
  onRefused,
  onLeave,
}: {
  readonly workspaces: readonly string[];
  readonly verb: string;
  readonly calls: readonly Call[];
  readonly start: () => Promise<Begun>;
  readonly kind?: 'main' | 'danger';
  /** Why not, the words above say. */
  readonly isOff?: boolean;
  readonly children: ReactNode;
  readonly onJob: (begun: Begun) => void;
  readonly onRefused?: (error: Error) => void;
  readonly onLeave: () => void;
}): ReactNode {
  const off = useMayInAll('operate', workspaces);
  const started = useMutation({
    mutationFn: start,
    onSuccess: onJob,
    onError: (error) => onRefused?.(error),
  });
  return (
    <div className={cls(styles.job)}>
      {children}
      {started.error && <Problem error={started.error} />}
      <Curl calls={calls} />
      <Foot>
        <Button onPress={onLeave}>Cancel</Button>
        <Button kind={kind} off={off} isDisabled={isOff || started.isPending} onPress={() => started.mutate()}>
          {verb}
        </Button>
      </Foot>
    </div>
  );
}
