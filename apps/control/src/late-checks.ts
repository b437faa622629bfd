import { ruleTitle, streamTable, type PlacedRule } from '@carillon/domain/configuration';
import { findLateEvents, type LateEventPorts } from '@carillon/insight';
import type { Duration, Instant } from '@carillon/kernel';
import type { Clock, ConfigurationView } from '@carillon/ports';
import type { Check } from './ports.ts';

const DAY: Duration = 86_400_000;
/** Rules that the doctor names: those with the most late events. */
const MAX_NAMED = 20;

export type LateCheckPorts = Omit<LateEventPorts, 'configuration'> & {
  readonly configuration: Pick<ConfigurationView, 'at' | 'current'>;
  readonly clock: Clock;
};

/** Returns, for each rule with state, how many events of the last day came more than the grace after their time. */
export async function lateChecks(ports: LateCheckPorts): Promise<readonly Check[]> {
  const rules = [...streamTable(ports.configuration.current()).rules.values()].flat();
  if (rules.every(({ grace }) => grace === null)) return [];
  const found = await findLateEvents(ports.clock.now() - DAY, ports);
  return found.rules
    .toSorted((a, b) => b.count - a.count)
    .slice(0, MAX_NAMED)
    .map(({ workspace, rule, stream, count, eventId }): Check => {
      const events = `${found.complete ? '' : 'at least '}${count} ${count === 1 ? 'event' : 'events'}`;
      const detail = `${events} of the last day came more than the grace of ${stream} after ${count === 1 ? 'its' : 'their'} time, such as ${eventId}; if many are late, raise \`grace\``;
      return { step: `late events of ${workspace}/${rule}`, ok: true, detail };
    });
}

/**
 * Milliseconds for which all pages share one count. A count reads up to 1,000 evaluation records of each partition, and an open page of a
 * rule asks every ten seconds.
 */
const SHARED_MS: Duration = 60_000;

type Late = { readonly count: number; readonly complete: boolean };

/** Returns how many events of the last day were late for a rule, at most a minute old. Null: its stream has no `time` path. */
export function createLateEventsOf(ports: LateCheckPorts): (placed: PlacedRule) => Promise<Late | null> {
  let shared: { readonly at: Instant; readonly found: ReturnType<typeof findLateEvents> } | null = null;
  const find = (): ReturnType<typeof findLateEvents> => {
    const now = ports.clock.now();
    if (shared === null || now - shared.at >= SHARED_MS) {
      const count = { at: now, found: findLateEvents(now - DAY, ports) };
      shared = count;
      // The next request tries again.
      count.found.catch(() => {
        if (shared === count) shared = null;
      });
    }
    return shared.found;
  };
  return async (placed) => {
    if (placed.grace === null) return null;
    const { rules, complete } = await find();
    const late = rules.find(({ workspace, rule }) => workspace === placed.workspace && rule === ruleTitle(placed));
    return { count: late?.count ?? 0, complete };
  };
}
