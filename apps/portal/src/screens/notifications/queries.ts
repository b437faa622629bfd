import { queryOptions } from '@tanstack/react-query';
import { api, bodyOf, type Schemas } from '../../api/client.ts';

export type NotificationResource = Schemas['NotificationResource'];
export type Insights = Schemas['Insights'];

export const NOTIFICATIONS = '/v1/workspaces/{workspace}/notifications';

/** All notifications of a workspace as they count. */
export const notificationsQuery = (workspace: string) =>
  queryOptions({
    queryKey: [NOTIFICATIONS, workspace],
    queryFn: ({ signal }) =>
      bodyOf(api.GET(NOTIFICATIONS, { params: { path: { workspace }, query: { limit: 500 } }, signal })),
  });

/** In milliseconds: how soon the numbers follow what is sent. */
const COUNTED_EVERY = 5_000;

/** How far back numbers go. */
export type Last = '1h' | '24h' | '7d';

/** Deliveries of the last day, or as long as is said, by state and notification; of one notification with their course. */
export const insightsQuery = (workspace: string, notification?: string, last: Last = '24h') =>
  queryOptions({
    queryKey: ['/v1/workspaces/{workspace}/insights', workspace, notification ?? null, last],
    queryFn: ({ signal }) =>
      bodyOf(
        api.GET('/v1/workspaces/{workspace}/insights', {
          params: {
            path: { workspace },
            query: { last, ...(notification !== undefined && { notification }) },
          },
          signal,
        }),
      ),
    refetchInterval: COUNTED_EVERY,
  });

export type Counts = {
  readonly sent: number;
  readonly waiting: number;
  readonly held: number;
  readonly failed: number;
  readonly doubt: number;
};

/** Deliveries by what became of them, for people. */
export function countsOf(states: Readonly<Record<string, number>>): Counts {
  const sum = (...names: readonly string[]): number => names.reduce((all, name) => all + (states[name] ?? 0), 0);
  return {
    sent: sum('SENT', 'DELIVERED'),
    waiting: sum('WAITING', 'SENDING', 'COLLECTED', 'DIGESTED'),
    held: sum('SUPPRESSED'),
    failed: sum('FAILED', 'BOUNCED', 'COMPLAINED', 'EXPIRED'),
    doubt: sum('IN_DOUBT'),
  };
}
