import { ruleTitle } from '@carillon/domain/configuration';
import type { Evaluation } from '@carillon/domain/events';
import type { Instant } from '@carillon/kernel';
import type { ConfigurationView, EventLog, RecordCodecs } from '@carillon/ports';
import { lateRules, readSourceRecord, type RuleBook } from '@carillon/stages';
import { newestRecords } from './newest-records.ts';

/** Events that came more than the grace after their time, for one rule with state. */
export type LateEvents = {
  readonly workspace: string;
  /** `notification.rule`. */
  readonly rule: string;
  readonly stream: string;
  readonly count: number;
  readonly eventId: string;
};

export type LateEventPorts = {
  readonly log: Pick<EventLog, 'logId' | 'partitions' | 'bounds' | 'read'>;
  readonly configuration: Pick<ConfigurationView, 'at'>;
  readonly codecs: Pick<RecordCodecs, 'evaluation'>;
  readonly book: Pick<RuleBook, 'rulesOf'>;
};

/** Records of the ranges with late events that are read for one request. */
const MAX_EVENTS = 2000;

/**
 * Counts the late events of each rule since a time. Nothing is stored for this: evaluation records name the batches with late
 * events, newest first, and the times of their events are compared again. `complete`: false if there may be more.
 */
export async function findLateEvents(
  since: Instant,
  ports: LateEventPorts,
): Promise<{ readonly rules: readonly LateEvents[]; readonly complete: boolean }> {
  const { found, complete } = await newestRecords('carillon.evaluations', ports.codecs.evaluation, since, ports.log);
  const ranges = found.filter(({ late }) => late > 0).toSorted((a, b) => b.at - a.at);
  const rules = new Map<string, LateEvents>();
  // Ranges of a batch that came again overlap.
  const read = new Set<string>();
  let left = MAX_EVENTS;
  for (const range of ranges) {
    if (left <= 0) return { rules: [...rules.values()], complete: false };
    left -= range.to - range.from;
    await countRange(range, { rules, read }, ports);
  }
  return { rules: [...rules.values()], complete };
}

async function countRange(
  { partition, from, to, configNumber }: Evaluation,
  counted: { readonly rules: Map<string, LateEvents>; readonly read: Set<string> },
  { log, configuration, book }: LateEventPorts,
): Promise<void> {
  const then = await configuration.at(configNumber);
  let watermark = 0;
  for (let next = from; next < to;) {
    const records = await log.read('carillon.events', partition, next, to - next);
    const last = records.at(-1);
    // Retention removed the records.
    if (!last) break;
    next = last.offset + 1;
    for (const record of records) {
      if (record.offset >= to) break;
      watermark = Math.max(watermark, record.time);
      const position = `${partition} ${record.offset}`;
      const source = counted.read.has(position) ? null : readSourceRecord(record, log.logId);
      counted.read.add(position);
      if (!source?.ok || source.value.kind !== 'event') continue;
      const { event } = source.value;
      for (const placed of lateRules(event, book.rulesOf(then, event.stream), watermark)) {
        const [workspace, rule] = [placed.workspace, ruleTitle(placed)];
        const key = `${workspace}/${rule}`;
        const before = counted.rules.get(key);
        const count = 1 + (before?.count ?? 0);
        counted.rules.set(key, { eventId: event.id, stream: event.stream, ...before, workspace, rule, count });
      }
    }
  }
}
