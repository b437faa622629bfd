import { useMutation, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useEffect, useRef, type ReactNode } from 'react';
import { Loading, Problem } from '../../ui/answers.tsx';
import { Button } from '../../ui/button.tsx';
import { cls } from '../../ui/class-names.ts';
import { Curl } from '../../ui/curl.tsx';
import { Actions, Card } from '../../ui/page.tsx';
import { counted } from '../drafts/change-words.ts';
import { cancelJob, jobQuery, type Job } from './queries.ts';
import styles from './promote.module.css';

function jobWords({ state, of, done, failed, ended_at: ended }: Job, live: string): string {
  const left = failed === 0 ? '' : `, ${failed} failed`;
  if (ended === null) return `${done} of ${counted(of, 'draft')} written in ${live}${left}`;
  if (state === 'cancelled') return `Stopped early: ${counted(done, 'draft')} of ${of} written in ${live}${left}`;
  return `${counted(done, 'draft')} written in ${live}${left}`;
}

/** A promotion as it goes on, and what comes after it. */
export function Progress({
  live,
  id,
  onEnd,
}: {
  readonly live: string;
  readonly id: string;
  /** Once, when it is over. */
  readonly onEnd: () => void;
}): ReactNode {
  const { data, error, refetch } = useQuery(jobQuery(live, id));
  const cancel = useMutation({ mutationFn: () => cancelJob(live, id), onSettled: () => void refetch() });
  const isOver = data !== undefined && data.ended_at !== null;
  const ended = useRef({ id: '', tell: onEnd });
  useEffect(() => {
    ended.current.tell = onEnd;
  });
  useEffect(() => {
    if (!isOver || ended.current.id === id) return;
    ended.current.id = id;
    ended.current.tell();
  }, [isOver, id]);
  return (
    <Card title="Promotion">
      {error && <Problem error={error} onRetry={() => void refetch()} />}
      {!data && !error && <Loading what="the promotion" rows={2} />}
      {data && (
        <>
          <p role="status">{jobWords(data, live)}.</p>
          {data.failures.length > 0 && (
            <ul aria-label="Failed drafts" className={cls(styles.faults)}>
              {data.failures.map(({ item, detail }) => (
                <li key={item}>
                  {item}: {detail}
                </li>
              ))}
            </ul>
          )}
          <Actions>
            {isOver ? (
              <Link to="/workspaces/$w/drafts" params={{ w: live }}>
                Review and publish in {live}
              </Link>
            ) : (
              <Button isDisabled={cancel.isPending} onPress={() => cancel.mutate()}>
                Stop the promotion
              </Button>
            )}
          </Actions>
          {!isOver && <Curl call={{ method: 'POST', path: `/v1/workspaces/${live}/jobs/${id}/cancel`, body: {} }} />}
          {cancel.error && <Problem error={cancel.error} />}
        </>
      )}
    </Card>
  );
}
