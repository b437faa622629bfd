import { limitIndexOf } from '@carillon/domain/cadence';
import { findResource, type Configuration } from '@carillon/domain/configuration';
import type { Duration, Instant } from '@carillon/kernel';
import type { ControlPorts } from '../ports.ts';
import { historyOf, type History } from './history.ts';

/** Messages of the past and the span that they were read of. */
export type KeptHistory = History & {
  readonly from: Instant;
  readonly to: Instant;
  /** Returns the cached result for these settings, or computes it with `make`. */
  once<Value>(words: string, make: () => Promise<Value>): Promise<Value>;
};

export type HistoryAsked = {
  readonly workspace: string;
  /** Left out: all of the workspace. */
  readonly notification: string | undefined;
  readonly span: Duration;
  /** The published configuration, then the configurations to compare with it. */
  readonly configurations: readonly [Configuration, ...Configuration[]];
  /**
   * True if messages read some minutes ago are recent enough, so that a person who edits a cadence sees the effect at
   * once.
   */
  readonly mayBeOld: boolean;
};

/** Milliseconds for which a history counts as new and is used without reading it again. */
const NEW_FOR: Duration = 30_000;
/**
 * Milliseconds for which an older history may still be used to draw a change at once, while a newer one is read.
 * Reading takes most of the response time.
 */
const KEPT_FOR: Duration = 600_000;
/** Maximum histories in memory. Each has at most 10,000 messages. */
const MAX_KEPT = 4;
/** Cached results per history: a few charts for a few viewers. */
const MAX_MADE = 8;

type Kept = { readonly at: Instant; readonly history: Promise<KeptHistory>; isReadAnew: boolean };

/** Reads messages of the past once for all questions of half a minute, and lets no change wait until they are read again. */
export function keepHistories(
  ports: Pick<ControlPorts, 'ledger' | 'slice' | 'clock'>,
): (asked: HistoryAsked) => Promise<KeptHistory> {
  const kept = new Map<string, Kept>();

  const keep = (key: string, at: Instant, history: Promise<KeptHistory>): void => {
    kept.delete(key);
    for (const oldest of [...kept.keys()].slice(0, Math.max(0, kept.size + 1 - MAX_KEPT))) kept.delete(oldest);
    kept.set(key, { at, history, isReadAnew: false });
    // A failed read is repeated by the next caller.
    history.catch(() => kept.get(key)?.history === history && kept.delete(key));
  };

  return ({ workspace, notification, span, configurations, mayBeOld }) => {
    const to = ports.clock.now();
    const [current] = configurations;
    const countsAll = configurations.some((one) => limitIndexOf(one, workspace).of('').length > 0);
    const read = async (): Promise<KeptHistory> => {
      const whose = countsAll ? undefined : notification;
      const history = await historyOf(workspace, whose, to - span, current, ports);
      return { ...history, from: to - span, to, once: makeOnce() };
    };
    // Histories depend on the configuration only through the default time zone.
    const zone = findResource(current, 'workspace', workspace, '')?.body.time_zone ?? null;
    const key = JSON.stringify([workspace, countsAll ? null : (notification ?? null), span, zone]);
    for (const [other, { at }] of kept) if (at + KEPT_FOR <= to) kept.delete(other);
    const known = kept.get(key);
    if (known && known.at + NEW_FOR > to) return known.history;
    if (known && mayBeOld) {
      if (!known.isReadAnew) {
        known.isReadAnew = true;
        read().then(
          (history) => kept.get(key) === known && keep(key, to, Promise.resolve(history)),
          () => (known.isReadAnew = false),
        );
      }
      return known.history;
    }
    const history = read();
    keep(key, to, history);
    return history;
  };
}

function makeOnce(): KeptHistory['once'] {
  const made = new Map<string, Promise<unknown>>();
  return <Value>(words: string, make: () => Promise<Value>) => {
    const known = made.get(words) as Promise<Value> | undefined;
    if (known) return known;
    for (const oldest of [...made.keys()].slice(0, Math.max(0, made.size + 1 - MAX_MADE))) made.delete(oldest);
    const one = make();
    made.set(words, one);
    one.catch(() => made.get(words) === one && made.delete(words));
    return one;
  };
}
