import type { Intent } from '@carillon/domain/deliveries';
import { formatPosition, readPosition } from '@carillon/domain/events';
import type { Lookup } from '@carillon/domain/lookups';
import type {
  BatchStage,
  Clock,
  ConfigurationView,
  DropCount,
  EventLog,
  Ids,
  EvaluationOutput,
  LogRecord,
  LookupClaims,
  RecordCodecs,
  RecordFate,
  EventLoopSlice,
} from '@carillon/ports';
import { decodeRecords } from '../decode-record.ts';
import { dropsOfAnswer, sumDrops } from '../drop-counts.ts';
import { deadLetterOf, deadLetterRecord } from '../dead-letters.ts';
import type { RuleBook } from '../evaluate/rule-book.ts';
import { runYielding } from '../run-yielding.ts';
import { resolveLookupCoroutine } from './resolve-lookup.ts';

export type ResolvePorts = {
  readonly log: Pick<EventLog, 'logId' | 'partitions'>;
  readonly claims: LookupClaims;
  readonly configuration: Pick<ConfigurationView, 'at'>;
  readonly codecs: Pick<RecordCodecs, 'lookup' | 'deadLetter'>;
  readonly ids: Ids;
  readonly clock: Clock;
  readonly slice: EventLoopSlice;
  readonly book: RuleBook;
};

/** Header of a lookup record that an operator sends again: where the answer stood at first. It is that answer still. */
export const REDRIVEN_FROM_HEADER = 'redriven_from';

/** Returns an intent of a sending job that is due when the partner answered, as its event may be days old. Others stay as they are. */
const dueAfter = ({ time }: LogRecord, intent: Intent): Intent =>
  intent.sentBy ? { ...intent, sendAt: Math.max(intent.sendAt, time) } : intent;

/**
 * Resolve (flow table, stage 3b): each lookup record claims its trigger before anything is made of it. The first record of
 * a trigger counts; one at another position is superseded and yields nothing, so that a trigger that was asked for twice,
 * after a crash or by two workers, has one set of recipients.
 */
export function createResolveStage(ports: ResolvePorts): BatchStage<EvaluationOutput> {
  const { claims, codecs, clock, ids, log, slice } = ports;

  return {
    name: 'resolve',
    async handle(records, state) {
      const outputs: EvaluationOutput[] = [];
      let ruleErrors = 0;
      const dropped: DropCount[] = [];
      const read = await decodeRecords(codecs.lookup, records);
      const redrivenFrom = ({ headers, topic }: LogRecord): string | null => {
        const from = headers[REDRIVEN_FROM_HEADER];
        return from !== undefined && readPosition(from)?.topic === topic ? from : null;
      };
      const positionOf = (record: LogRecord): string =>
        redrivenFrom(record) ?? formatPosition({ ...record, logId: log.logId });
      const readable = read.flatMap(({ record, decoded }) => (decoded.ok ? [{ record, lookup: decoded.value }] : []));
      const holders = await claims.claim(
        readable.map(({ record, lookup }) => ({
          triggerId: lookup.trigger.id,
          position: positionOf(record),
          at: clock.now(),
        })),
      );
      const counts = new Set(
        readable.flatMap(({ record }, index) => (holders[index] === positionOf(record) ? [record] : [])),
      );

      function park(record: LogRecord, reason: string, detail: string): RecordFate {
        const letter = deadLetterOf('resolve', record, reason, detail, ports);
        outputs.push({ kind: 'record', record: deadLetterRecord(letter, ports) });
        return { kind: 'parked', reason };
      }

      async function resolve(record: LogRecord, lookup: Lookup): Promise<RecordFate> {
        if (!counts.has(record)) return { kind: 'dropped', reason: 'superseded' };
        const configuration = await ports.configuration.at(lookup.trigger.configNumber);
        const redrivenAt = redrivenFrom(record) === null ? null : record.time;
        const work = resolveLookupCoroutine(lookup, configuration, ports.book, ids.derive, redrivenAt);
        const resolved = await runYielding(work, slice);
        if (!resolved.ok) return park(record, 'rule_gone', resolved.error);
        for (const intent of resolved.value.intents) outputs.push({ kind: 'intent', intent: dueAfter(record, intent) });
        ruleErrors += resolved.value.dropped.filter(({ reason }) => reason === 'rule_error').length;
        const named = { workspace: lookup.trigger.workspace, rule: resolved.value.rule };
        dropped.push(...dropsOfAnswer(named, lookup.problemCounts, resolved.value.dropped));
        return resolved.value.intents.length > 0 ? { kind: 'done' } : { kind: 'dropped', reason: 'no_recipient' };
      }

      const fates: RecordFate[] = [];
      for (const { record, decoded } of read) {
        fates.push(
          decoded.ok ? await resolve(record, decoded.value) : park(record, decoded.error.reason, decoded.error.detail),
        );
      }
      return { fates, outputs, ruleErrors, dropped: sumDrops(dropped), state };
    },
  };
}
