import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { api, bodyOf, type Schemas } from '../../api/client.ts';
import { useIsMeKnown, useMay } from '../../api/me.ts';
import { Problem } from '../../ui/answers.tsx';
import { cls } from '../../ui/class-names.ts';
import { Curl } from '../../ui/curl.tsx';
import { Card, Quiet } from '../../ui/page.tsx';
import styles from './first-steps.module.css';

type Numbers = Schemas['Onboarding'];
type Step = Numbers['steps'][number];

const NAMES: Readonly<Record<Step['step'], string>> = {
  came: 'Opened the link',
  notification: 'Had a notification',
  key: 'Had a key',
  event: 'Sent an event',
  message: 'Read the message',
};

/** `45 s`, `3 min`, `2 h` */
export function spanWords(seconds: number): string {
  if (seconds < 120) return `${seconds} s`;
  return seconds < 7_200 ? `${Math.round(seconds / 60)} min` : `${Math.round(seconds / 3_600)} h`;
}

/** How it went for those who began, in a sentence. */
export function firstStepsWords({ people, steps }: Pick<Numbers, 'people' | 'steps'>): string {
  const last = steps.find(({ step }) => step === 'message');
  const began = people === 1 ? '1 person started from a link' : `${people} people started from a link`;
  if (!last || last.reached === 0) return `${began}; nobody read a first message yet.`;
  const median = last.reached === 1 ? '' : ', in the median';
  const took = `after ${spanWords(last.seconds ?? 0)} and ${last.clicks ?? 0} clicks${median}`;
  return `${began}; ${last.reached} read a first message, ${took}.`;
}

/** For owners of the deployment: how long the first steps take, and where people stop. Nothing of it leaves the deployment. */
export function FirstSteps(): ReactNode {
  const isKnown = useIsMeKnown();
  const off = useMay('people', null);
  const { data, error, refetch } = useQuery({
    queryKey: ['/v1/onboarding'],
    queryFn: ({ signal }) => bodyOf(api.GET('/v1/onboarding', { signal })),
    enabled: isKnown && off === null,
  });
  if (error) return <Problem error={error} onRetry={() => void refetch()} />;
  if (!data || data.people === 0) return null;
  return (
    <Card title="Guide: from the link to the first message">
      <p>{firstStepsWords(data)}</p>
      <table className={cls(styles.table)}>
        <thead>
          <tr>
            <th scope="col">Step</th>
            <th scope="col">People</th>
            <th scope="col">Stopped here</th>
            <th scope="col">Time, median</th>
            <th scope="col">Clicks, median</th>
          </tr>
        </thead>
        <tbody>
          {data.steps.map(({ step, reached, stopped, seconds, clicks }) => (
            <tr key={step}>
              <th scope="row">{NAMES[step]}</th>
              <td>{reached}</td>
              <td>{step === 'message' ? '–' : stopped}</td>
              <td>{seconds === null ? '–' : spanWords(seconds)}</td>
              <td>{clicks ?? '–'}</td>
            </tr>
          ))}
        </tbody>
      </table>
      <Quiet>Measured only on this deployment and shown only to its owners, without names or addresses.</Quiet>
      <Curl call={{ method: 'GET', path: '/v1/onboarding' }} />
    </Card>
  );
}
