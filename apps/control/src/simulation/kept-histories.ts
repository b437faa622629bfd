import { limitBookOf, type Configuration } from '@carillon/domain';
import type { Duration, Instant } from '@carillon/kernel';
import type { ControlPorts } from '../ports.ts';
import { historyOf, type History } from './history.ts';

/** Messages of the past and the span that they were read of. */
export type KeptHistory = History & { readonly from: Instant; readonly to: Instant };

export type HistoryAsked = {
  readonly workspace: string;
  /** Left out: all of the workspace. */
  readonly notification: string | undefined;
  readonly span: Duration;
  /** What counts, and what is tried beside it. */
  readonly configurations: readonly [Configuration, ...Configuration[]];
};

/** So long are they good for, in milliseconds: whoever turns at a cadence asks again with each key, and reading them takes most of an answer. */
const KEPT_FOR: Duration = 30_000;
/** A history is 10,000 messages at the most. */
const MOST_KEPT = 4;

type Kept = { readonly until: Instant; readonly history: Promise<KeptHistory> };

/** Reads messages of the past once for all questions of half a minute. */
export function keepHistories(
  ports: Pick<ControlPorts, 'ledger' | 'turns' | 'clock'>,
): (asked: HistoryAsked) => Promise<KeptHistory> {
  const kept = new Map<string, Kept>();
  return ({ workspace, notification, span, configurations }) => {
    const to = ports.clock.now();
    const [current] = configurations;
    const countsAll = configurations.some((one) => limitBookOf(one, workspace).of('').length > 0);
    const key = JSON.stringify([workspace, countsAll ? null : (notification ?? null), span, current.number]);
    for (const [other, { until }] of kept) if (until <= to) kept.delete(other);
    const known = kept.get(key);
    if (known) return known.history;
    const from = to - span;
    const history = historyOf(workspace, countsAll ? undefined : notification, from, current, ports).then(
      (read): KeptHistory => ({ ...read, from, to }),
    );
    for (const oldest of [...kept.keys()].slice(0, Math.max(0, kept.size + 1 - MOST_KEPT))) kept.delete(oldest);
    kept.set(key, { until: to + KEPT_FOR, history });
    // What could not be read is read anew by whoever asks next.
    history.catch(() => kept.get(key)?.history === history && kept.delete(key));
    return history;
  };
}
