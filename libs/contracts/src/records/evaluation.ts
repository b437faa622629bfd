import type { Evaluation } from '@carillon/domain/events';
import type { EventId } from '@carillon/kernel';
import type { RecordKind } from './record-kind.ts';
import { listOf, readPersonal, textOrNull, writePersonal } from './personal.ts';

type WireEvaluation = {
  partition: number;
  from: number;
  to: number;
  config_number: number;
  events: number;
  repeated: number;
  intents: number;
  triggers: number;
  late: number;
  duplicates: number;
  dead_letters: number;
  rules: {
    workspace: string;
    rule: string;
    rule_version: number;
    fired: number;
    failed: number;
    dropped: number;
    waits_started: number;
    waits_cancelled: number;
    in_cooldown: number;
    fired_by_deadline: number;
    sample_event_id: string | null;
  }[];
  at: number;
  personal: Buffer;
};

/** Sample errors are in the personal part, one per rule in order, because they may quote values of the event. */
export const evaluationRecord = {
  name: 'evaluation',
  topic: 'carillon.evaluations',
  owner: 'engine',
  description: 'What came of each range of events; explains events that fire nothing.',
  key: 'event partition',
  partitions: 8,
  retention: '30d',
  schema: {
    type: 'record',
    name: 'Evaluation',
    namespace: 'carillon',
    doc: 'What came of a range of positions of one partition of carillon.events under one configuration.',
    fields: [
      { name: 'partition', type: 'int' },
      { name: 'from', type: 'long', doc: 'First offset judged.' },
      { name: 'to', type: 'long', doc: 'Offset after the last one judged.' },
      { name: 'config_number', type: 'long' },
      { name: 'events', type: 'long' },
      {
        name: 'repeated',
        type: 'long',
        default: 0,
        doc: 'Events that the states of their entities held already, because their batch came again.',
      },
      { name: 'intents', type: 'long' },
      { name: 'triggers', type: 'long' },
      { name: 'late', type: 'long' },
      { name: 'duplicates', type: 'long' },
      { name: 'dead_letters', type: 'long' },
      {
        name: 'rules',
        type: {
          type: 'array',
          items: {
            type: 'record',
            name: 'RuleTally',
            fields: [
              { name: 'workspace', type: 'string' },
              { name: 'rule', type: 'string', doc: 'notification.rule' },
              { name: 'rule_version', type: 'long' },
              { name: 'fired', type: 'long' },
              { name: 'failed', type: 'long' },
              { name: 'dropped', type: 'long', doc: 'Recipients dropped, summed over all reasons.' },
              { name: 'waits_started', type: 'long', default: 0 },
              {
                name: 'waits_cancelled',
                type: 'long',
                default: 0,
                doc: 'Waits that an event ended without a message.',
              },
              {
                name: 'in_cooldown',
                type: 'long',
                default: 0,
                doc: 'Matches and deadlines at which the cooldown kept the rule from firing.',
              },
              {
                name: 'fired_by_deadline',
                type: 'long',
                default: 0,
                doc: 'How often of `fired` the deadline of a wait made the rule fire.',
              },
              { name: 'sample_event_id', type: ['null', 'string'], default: null },
            ],
          },
        },
      },
      { name: 'at', type: { type: 'long', logicalType: 'timestamp-millis' } },
      {
        name: 'personal',
        type: 'bytes',
        doc: 'JSON {sample_errors}: one text or null for each of `rules`, in their order; an error may quote a value of the event. Clear text begins with `{`; any other first byte is reserved for an encrypted form.',
      },
    ],
  },
  write: (evaluation) => ({
    partition: evaluation.partition,
    from: evaluation.from,
    to: evaluation.to,
    config_number: evaluation.configNumber,
    events: evaluation.events,
    repeated: evaluation.repeated,
    intents: evaluation.intents,
    triggers: evaluation.triggers,
    late: evaluation.late,
    duplicates: evaluation.duplicates,
    dead_letters: evaluation.deadLetters,
    rules: evaluation.rules.map((tally) => ({
      workspace: tally.workspace,
      rule: tally.rule,
      rule_version: tally.ruleVersion,
      fired: tally.fired,
      failed: tally.failed,
      dropped: tally.dropped,
      waits_started: tally.waitsStarted,
      waits_cancelled: tally.waitsCancelled,
      in_cooldown: tally.inCooldown,
      fired_by_deadline: tally.firedByDeadline,
      sample_event_id: tally.sampleEventId,
    })),
    at: evaluation.at,
    personal: writePersonal({ sample_errors: evaluation.rules.map((tally) => tally.sampleError) }),
  }),
  read: (wire) => {
    const errors = listOf(readPersonal(wire.personal)['sample_errors'], 'sample_errors');
    return {
      partition: wire.partition,
      from: wire.from,
      to: wire.to,
      configNumber: wire.config_number,
      events: wire.events,
      repeated: wire.repeated,
      intents: wire.intents,
      triggers: wire.triggers,
      late: wire.late,
      duplicates: wire.duplicates,
      deadLetters: wire.dead_letters,
      rules: wire.rules.map((tally, index) => ({
        workspace: tally.workspace,
        rule: tally.rule,
        ruleVersion: tally.rule_version,
        fired: tally.fired,
        failed: tally.failed,
        dropped: tally.dropped,
        waitsStarted: tally.waits_started,
        waitsCancelled: tally.waits_cancelled,
        inCooldown: tally.in_cooldown,
        firedByDeadline: tally.fired_by_deadline,
        sampleEventId: tally.sample_event_id as EventId | null,
        sampleError: textOrNull(errors[index], `sample_errors[${index}]`),
      })),
      at: wire.at,
    };
  },
} satisfies RecordKind<Evaluation, WireEvaluation>;
