import type { ChannelName } from '@carillon/domain/channels';
import type { Attempt, ProviderVerdict } from '@carillon/domain/deliveries';
import type { Duration, Instant } from '@carillon/kernel';
import type { DeliveryLedger } from '@carillon/ports';
import { pickDeliveries } from './newest-deliveries.ts';

/** The time over which calls are counted. */
export const CALLS_WINDOW: Duration = 3_600_000;
const DAY: Duration = 86_400_000;

/** The time over which the rate of refusals is measured. */
export const REFUSAL_WINDOW: Duration = 900_000;
/** An alert needs more refusals than this within the window, so that a few bad addresses raise none. */
const MIN_REFUSALS = 20;
/** An alert needs at least this share of refused calls. */
const MIN_REFUSED_SHARE = 0.1;

/** A call to a provider, with the delivery it was made for. */
export type ProviderCall = {
  readonly attempt: Attempt;
  readonly workspace: string;
  readonly notification: string;
  readonly channel: ChannelName;
  /** The latest other account that was called for the same delivery. Undefined if there is none. */
  readonly other: string | undefined;
};

/** Calls of the last hour. `complete` is false if there are more deliveries than were read. */
export type RecentCalls = { readonly calls: readonly ProviderCall[]; readonly complete: boolean };

/**
 * Returns the calls of the last hour that ended, from the newest deliveries of the last day: a message may wait a night before
 * it is sent. Reads at most `limit` deliveries.
 */
export async function recentCalls(
  ledger: Pick<DeliveryLedger, 'list'>,
  now: Instant,
  of: { readonly workspace?: string },
  limit: number,
): Promise<RecentCalls> {
  const { picked, complete } = await pickDeliveries(
    ledger,
    { ...of, since: now - DAY },
    ({ attempts, slot, intent }): readonly ProviderCall[] =>
      attempts
        .filter(({ result, startedAt }) => result !== null && startedAt >= now - CALLS_WINDOW)
        .map((attempt) => ({
          attempt,
          workspace: slot.workspace,
          notification: intent.notification,
          channel: slot.channel,
          other: attempts.findLast(({ account }) => account !== attempt.account)?.account,
        })),
    limit,
  );
  return { calls: picked, complete };
}

/** Calls by their result. `failed` counts transient failures and throttled calls, which are retried. */
export type CallCounts = {
  readonly accepted: number;
  readonly refused: number;
  readonly failed: number;
  readonly unknown: number;
};

const COUNTED_AS: Readonly<Record<ProviderVerdict, keyof CallCounts>> = {
  accepted: 'accepted',
  refused_recipient: 'refused',
  refused_content: 'refused',
  refused_account: 'refused',
  throttled: 'failed',
  transient: 'failed',
  ambiguous: 'unknown',
};

const isRefused = ({ attempt }: ProviderCall): boolean =>
  attempt.result !== null && COUNTED_AS[attempt.result.verdict] === 'refused';

export function countCalls(calls: readonly ProviderCall[]): CallCounts {
  const counts = { accepted: 0, refused: 0, failed: 0, unknown: 0 };
  for (const { attempt } of calls) if (attempt.result) counts[COUNTED_AS[attempt.result.verdict]] += 1;
  return counts;
}

/** The refusals of an account for one notification within the window. */
export type Refusals = {
  readonly account: string;
  readonly workspace: string;
  readonly notification: string;
  readonly calls: number;
  readonly refused: number;
  /** Text of the provider's newest refusal. */
  readonly detail: string;
  /** More than 20 refusals that are at least 10 % of the calls. */
  readonly isHigh: boolean;
};

/** Returns the refusals per account and notification, most refusals first. Pairs without a refusal are left out. */
export function refusalsOf(calls: readonly ProviderCall[], now: Instant): readonly Refusals[] {
  const recent = calls.filter(({ attempt }) => attempt.startedAt >= now - REFUSAL_WINDOW);
  const pairs = Map.groupBy(recent, ({ attempt, workspace, notification }) =>
    JSON.stringify([attempt.account, workspace, notification]),
  );
  return [...pairs.values()]
    .flatMap((of): readonly Refusals[] => {
      const refused = of.filter(isRefused).toSorted((a, b) => a.attempt.startedAt - b.attempt.startedAt);
      const newest = refused.at(-1);
      if (!newest) return [];
      return [
        {
          account: newest.attempt.account,
          workspace: newest.workspace,
          notification: newest.notification,
          calls: of.length,
          refused: refused.length,
          detail: newest.attempt.result?.detail ?? '',
          isHigh: refused.length > MIN_REFUSALS && refused.length >= of.length * MIN_REFUSED_SHARE,
        },
      ];
    })
    .toSorted((a, b) => b.refused - a.refused);
}
