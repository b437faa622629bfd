import type { RunCountsBody } from '@carillon/contracts';
import type { CompareRun, RunCounts } from '@carillon/domain/runs';
import { describeRun, describeRunNotes, describeRunWarning } from '@carillon/insight';
import type { ShownRun } from './run-kind.ts';

/** Returns the fields of a body that only comparisons have. */
export function showComparison(run: CompareRun, isDone: boolean): ShownRun {
  // A run may be cancelled after its rows were counted. They are deleted then.
  const counts = run.counts && (isDone ? run.counts : { ...run.counts, rows: null });
  return {
    before: run.before,
    changes: run.changes.map(({ ref: { kind, name }, action, revision }) => ({ kind, name, action, revision })),
    notifications: [...run.notifications],
    not_compared: run.notCompared.map(({ kind, name }) => ({ kind, name })),
    counts: counts && showCounts(counts),
    sentence: isDone ? describeRun(run) : null,
    warning: isDone ? describeRunWarning(run) : null,
    notes: [...describeRunNotes({ ...run, counts })],
  };
}

const NONE = { before: 0, after: 0 };

function showCounts({ read, rows }: RunCounts): RunCountsBody {
  return {
    events: read.events,
    needs_lookup: read.needsLookup,
    no_address: { ...read.noAddress },
    rule_errors: { ...read.ruleErrors },
    unreadable: read.unreadable,
    past_retention: read.pastRetention,
    would_wait: { ...(read.wouldWait ?? NONE) },
    cold: { ...(read.cold ?? NONE) },
    differences: rows && { ...rows.differences },
    slot_states: rows && structuredClone(rows.slotStates),
    people: rows && { ...rows.people },
    notified_people: rows && { ...rows.notifiedPeople },
    by_rule: (rows?.byRule ?? []).map((counted) => ({ ...counted })),
    by_day: (rows?.byDay ?? []).map((counted) => ({ ...counted })),
  };
}
