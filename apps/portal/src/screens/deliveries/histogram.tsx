import { useQuery } from '@tanstack/react-query';
import type { ReactNode } from 'react';
import { api, bodyOf, isAway } from '../../api/client.ts';
import { useLiveState, useOnChange } from '../../api/live.ts';
import { Problem } from '../../ui/answers.tsx';
import { Bars } from '../../ui/bars.tsx';
import { Button } from '../../ui/button.tsx';
import { cls } from '../../ui/class-names.ts';
import { Select } from '../../ui/select.tsx';
import { byTone, TONE_NAMES } from '../../ui/state-words.ts';
import { Time } from '../../ui/time.tsx';
import type { DeliverySearch } from './delivery-search.ts';
import styles from './deliveries.module.css';

const HOUR = 3_600_000;
const SPANS = {
  day: { name: 'Last 24 hours', last: '24h' },
  hour: { name: 'Last hour', last: '1h' },
  week: { name: 'Last 7 days', last: '7d' },
} as const;
const OPTIONS = [
  { id: 'any', name: 'Any time' },
  { id: 'hour', name: SPANS.hour.name },
  { id: 'day', name: SPANS.day.name },
  { id: 'week', name: SPANS.week.name },
  { id: 'range', name: 'Chosen range' },
] as const;
const LENGTHS = { hour: HOUR, day: 24 * HOUR, week: 7 * 24 * HOUR } as const;

/** Interval of counts in milliseconds without a live stream. */
const COUNTED_EVERY = 10_000;
/** Minimum milliseconds between counts with a live stream, because counting takes a moment. */
const COUNTED_AFTER = 3_000;
/** Interval in milliseconds at which the time axis moves on without changes. */
const MOVED_EVERY = 60_000;

export type HistogramProps = {
  readonly workspace: string;
  readonly search: DeliverySearch;
  /** Writes a range into the address; null: any time. */
  readonly onRange: (range: { readonly from: string; readonly to?: string } | null) => void;
};

/**
 * When deliveries of the range were created, by what became of them; a part of it can be chosen. It counts by range and
 * notification alone, and says so where the list is narrowed down by more.
 */
export function Histogram({ workspace, search, onRange }: HistogramProps): ReactNode {
  const { from, to, notification, open: _open, ...others } = search;
  const span =
    from === undefined && to === undefined ? { last: SPANS.day.last } : { ...(from && { from }), ...(to && { to }) };
  const isLive = useLiveState(workspace) === 'live';
  const { data, error, refetch } = useQuery({
    queryKey: ['/v1/workspaces/{workspace}/insights', workspace, 'histogram', span, notification ?? null],
    queryFn: ({ signal }) =>
      bodyOf(
        api.GET('/v1/workspaces/{workspace}/insights', {
          params: { path: { workspace }, query: { ...span, ...(notification !== undefined && { notification }) } },
          signal,
        }),
      ),
    refetchInterval: isLive ? MOVED_EVERY : COUNTED_EVERY,
    placeholderData: (before) => before,
  });
  useOnChange(workspace, 'deliveries', COUNTED_AFTER, () => refetch());
  const ends = data ? [...data.buckets.slice(1).map(({ at }) => at), data.to] : [];
  const bars = (data?.buckets ?? []).map(({ at, states }, place) => ({
    from: Date.parse(at),
    to: Date.parse(ends[place] ?? at),
    counts: byTone(states),
  }));
  const total = Object.values(data?.states ?? {}).reduce((sum, count) => sum + count, 0);
  const isNarrowed = Object.keys(others).length > 0;
  return (
    <div className={cls(styles.histogram)}>
      <div className={cls(styles.span)}>
        <Select
          label="Time"
          hidesLabel
          options={from === undefined && to === undefined ? OPTIONS.slice(0, 4) : OPTIONS}
          chosen={from === undefined && to === undefined ? 'any' : 'range'}
          onChoose={(id) => {
            if (id === 'any') onRange(null);
            else if (id !== 'range') onRange({ from: new Date(Date.now() - LENGTHS[id]).toISOString() });
          }}
        />
        <span>
          {total.toLocaleString('en')} created{' '}
          {from === undefined && to === undefined ? (
            'in 24 hours'
          ) : (
            <>
              {from !== undefined && (
                <>
                  from <Time at={from} />{' '}
                </>
              )}
              {to === undefined ? (
                'until now'
              ) : (
                <>
                  to <Time at={to} />
                </>
              )}
            </>
          )}
          {isNarrowed && ', without the other filters'}
        </span>
        {(from !== undefined || to !== undefined) && (
          <Button kind="quiet" onPress={() => onRange(null)}>
            Any time
          </Button>
        )}
      </div>
      {/* The frame reports that the server does not respond. */}
      {error && !isAway(error) && <Problem error={error} onRetry={() => void refetch()} />}
      {data && (
        <Bars
          summary={`${total.toLocaleString('en')} deliveries by state, in steps of ${data.bucket}. Drag over a part to see it alone.`}
          bars={bars}
          names={TONE_NAMES}
          onRange={(first, last) => onRange({ from: new Date(first).toISOString(), to: new Date(last).toISOString() })}
        />
      )}
    </div>
  );
}
