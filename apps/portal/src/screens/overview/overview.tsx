import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate, useParams, useSearch } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useLiveState, useOnChange } from '../../api/live.ts';
import { Loading, Problem } from '../../ui/answers.tsx';
import { Bars } from '../../ui/bars.tsx';
import { cls } from '../../ui/class-names.ts';
import { LiveLine } from '../../ui/live-line.tsx';
import { Card, PageBody, PageHead } from '../../ui/page.tsx';
import { Segments } from '../../ui/segments.tsx';
import { byTone, TONE_NAMES } from '../../ui/state-words.ts';
import { useLetter } from '../../ui/use-letter.ts';
import { Counters } from '../notifications/counters.tsx';
import { insightsQuery, type Insights, type Last } from '../notifications/queries.ts';
import { Guide } from './guide.tsx';
import { Health } from './health.tsx';
import { DAY, numbersWords, RANGES } from './overview-words.ts';
import { Waits } from './waits.tsx';
import styles from './overview.module.css';

const FROM = '/workspaces/$w';
/** In milliseconds: counting anew takes the server a moment. */
const COUNTED_AFTER = 2_000;
/** Interval in milliseconds at which the day moves on without changes. */
const COUNTED_EVERY = 30_000;

/** How a workspace is: what is left to begin, the numbers of a day, and what waits for a person. */
export function Overview(): ReactNode {
  const { w } = useParams({ from: FROM });
  const isLive = useLiveState(w) === 'live';
  const { last } = useSearch({ from: FROM });
  const navigate = useNavigate({ from: FROM });
  const range = RANGES.find(({ id }) => id === last) ?? DAY;
  const choose = (id: Last): void => void navigate({ search: id === DAY.id ? {} : { last: id }, replace: true });
  useLetter('r', () => choose((RANGES[(RANGES.indexOf(range) + 1) % RANGES.length] ?? DAY).id));
  const { data, error, refetch } = useQuery({
    ...insightsQuery(w, undefined, range.id),
    ...(isLive && { refetchInterval: COUNTED_EVERY }),
  });
  useOnChange(w, 'deliveries', COUNTED_AFTER, () => refetch());
  return (
    <>
      <PageHead title="Overview" lead={data ? numbersWords(data, range.within) : w}>
        <Segments label="Period" options={RANGES} chosen={range.id} onChoose={choose} />
      </PageHead>
      <LiveLine workspace={w} />
      <PageBody>
        <Guide key={w} workspace={w} />
        {error && <Problem error={error} onRetry={() => void refetch()} />}
        {!data && !error && <Loading what="the numbers" />}
        {data && (
          <>
            <Waits workspace={w} inDoubt={data.in_doubt} />
            <Span workspace={w} insights={data} range={range} />
            <ByNotification workspace={w} insights={data} range={range} />
          </>
        )}
        <Health workspace={w} insights={data} />
      </PageBody>
    </>
  );
}

type WithInsights = {
  readonly workspace: string;
  readonly insights: Insights;
  readonly range: (typeof RANGES)[number];
};

function Span({ workspace, insights, range }: WithInsights): ReactNode {
  const ends = [...insights.buckets.slice(1).map(({ at }) => at), insights.to];
  const bars = insights.buckets.map(({ at, states }, place) => ({
    from: Date.parse(at),
    to: Date.parse(ends[place] ?? at),
    counts: byTone(states),
  }));
  return (
    <Card
      title={range.title}
      beside={
        <>
          <Link to="/workspaces/$w/why" params={{ w: workspace }}>
            Why not?
          </Link>
          <Link to="/workspaces/$w/deliveries" params={{ w: workspace }}>
            All deliveries
          </Link>
        </>
      }
    >
      <Counters states={insights.states} within={range.within} />
      <Bars
        summary={`By state, in steps of ${insights.bucket}: ${numbersWords(insights, range.within)}`}
        bars={bars}
        names={TONE_NAMES}
      />
    </Card>
  );
}

function ByNotification({ workspace, insights, range }: WithInsights): ReactNode {
  if (insights.notifications.length === 0) return null;
  return (
    <Card title="By notification">
      <ul className={cls(styles.lines)}>
        {insights.notifications.map(({ notification, states }) => (
          <li key={notification}>
            <Link to="/workspaces/$w/notifications/$n" params={{ w: workspace, n: notification }}>
              {notification}
            </Link>
            <Counters states={states} within={range.within} />
          </li>
        ))}
      </ul>
    </Card>
  );
}
