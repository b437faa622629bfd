import {
  formatPosition,
  ruleIdOf,
  ruleTitle,
  whoIsDropped,
  type Configuration,
  type Delivery,
  type Intent,
  type SourceEvent,
} from '@carillon/domain';
import { stringifyJson, type DeliveryId } from '@carillon/kernel';
import type {
  CheckpointStore,
  ConfigurationView,
  DeliveryLedger,
  EventRow,
  Ids,
  ReadModels,
  RuleStateStore,
} from '@carillon/ports';
import { readSourceRecord } from '../append/source-record.ts';
import { deliveryIdOf } from '../deliver/custody-stage.ts';
import { inTurns } from '../in-turns.ts';
import { decisionsAbout } from '../evaluate/entity-states.ts';
import { judgeEventInParts, type Judgement } from '../evaluate/judge-event.ts';
import { traceAnswer, traceTrigger, type LookupTracePorts } from './lookups.ts';
import { byTime, deliverySteps, step, type TraceStep } from './steps.ts';

export type TracePorts = LookupTracePorts & {
  readonly readModels: ReadModels;
  readonly ledger: DeliveryLedger;
  readonly checkpoints: CheckpointStore;
  readonly ruleStates: Pick<RuleStateStore, 'load'>;
  readonly configuration: ConfigurationView;
  readonly ids: Ids;
};

export type Trace = { readonly kind: 'event' | 'delivery'; readonly id: string; readonly steps: readonly TraceStep[] };

/**
 * The whole story of an event. What the rules made of it is judged again from the log by the configuration that judged
 * it then, which gives the same answer for ever (promise 6); what became of each intent comes from the ledger.
 */
export async function traceEvent(id: string, ports: TracePorts): Promise<Trace | null> {
  const rows = await ports.readModels.event(id);
  if (rows.length === 0) return null;
  const steps: TraceStep[] = [];
  for (const [index, row] of rows.entries()) steps.push(...(await traceRow(row, index, ports)));
  const letters = await ports.readModels.duplicatesOfEvent(id);
  for (const row of letters) {
    steps.push(step('duplicate', row.at, row.detail, { id: row.deliveryId, state: 'SUPPRESSED', reason: 'duplicate' }));
  }
  return { kind: 'event', id, steps };
}

export async function traceDelivery(id: string, ports: TracePorts): Promise<Trace | null> {
  const delivery = await ports.ledger.get(id as DeliveryId);
  if (!delivery) return null;
  const duplicates = (await ports.readModels.duplicatesOfDelivery(id)).map((row) =>
    step('duplicate', row.at, `event ${row.eventId} asked for the same again`, {
      id: row.intentId,
      reason: 'duplicate',
    }),
  );
  const asked = await traceAnswer(delivery.intent.triggerId, ports);
  const told = [...deliverySteps(delivery), ...duplicates].toSorted(byTime);
  const [event, trigger, intent] = originSteps(delivery);
  const steps = [event, trigger, ...asked, intent, ...told];
  return { kind: 'delivery', id, steps };
}

function originSteps({ intent, intentPosition }: Delivery): readonly [TraceStep, TraceStep, TraceStep] {
  const { eventId, eventPosition, triggerId, configNumber, rule, ruleVersion, causedAt } = intent;
  const named = { configNumber, rule, ruleVersion };
  return [
    step('event', causedAt, 'the event that caused it', { id: eventId, position: eventPosition }),
    step('trigger', causedAt, `rule ${rule} fired`, { id: triggerId, ...named }),
    step('intent', causedAt, intentWords(intent), { id: intent.id, position: intentPosition, ...named }),
  ];
}

const intentWords = (intent: Intent): string =>
  `${intent.notification} by ${intent.slot.channel}, template ${intent.template} version ${intent.templateVersion}`;

async function traceRow(row: EventRow, index: number, ports: TracePorts): Promise<TraceStep[]> {
  const position = formatPosition({ logId: ports.log.logId, topic: 'carillon.events', ...row });
  const again =
    index === 0 ? '' : row.reused ? '; its id was used before with another body' : '; a repeat of the same event';
  const steps = [
    step('event', row.at, `received on ${row.stream}, ${row.bytes} bytes${again}`, { id: row.id, position }),
  ];
  const [record] = await ports.log.read('carillon.events', row.partition, row.offset, 1);
  if (!record || record.offset !== row.offset) {
    return [
      ...steps,
      step('evaluation', null, 'the event has left the log (retention); its deliveries stand in the ledger'),
    ];
  }
  const checkpoint = await ports.checkpoints.load('engine', 'carillon.events', row.partition);
  if (!checkpoint || checkpoint.next <= row.offset) {
    const behind = row.offset + 1 - (checkpoint?.next ?? 0);
    return [
      ...steps,
      step('evaluation', null, `not judged yet: the engine is ${behind} records behind in this partition`),
    ];
  }
  const read = readSourceRecord(record, ports.log.logId);
  if (!read.ok || read.value.kind !== 'event') {
    return [...steps, step('dead_letter', row.at, 'the record cannot be read; see the dead letters')];
  }
  const { event } = read.value;
  const configuration = await ports.configuration.at(row.configNumber);
  const work = judgeEventInParts(event, configuration, ports.book, ports.ids.derive);
  const judgements = await inTurns(work, ports.turns);
  const { configNumber } = row;
  steps.push(
    step('evaluation', row.at, `judged by configuration ${configNumber}: ${countWords(judgements)}`, { configNumber }),
  );
  for (const judgement of judgements) {
    const entry = ports.book
      .rulesOf(configuration, event.stream)
      .find((one) => one.ok && one.placed === judgement.placed);
    const bindings = { event: event.body, event_id: event.id, time: event.time };
    if (ports.turns.isOver()) await ports.turns.next();
    const explained = entry?.ok ? entry.rule.when.explain(bindings) : [];
    const lines = explained.map(({ source, depth, result }) => {
      const value = result.ok ? JSON.stringify(result.value, bigintText) : `error: ${result.error}`;
      return `${'  '.repeat(depth)}${source}  →  ${value}`;
    });
    steps.push(
      ruleStep(judgement, row, judgement.outcome.kind === 'fired' || judgement.outcome.kind === 'asks' ? [] : lines),
    );
    const intents = [...judgement.intents];
    for (const trigger of judgement.triggers) {
      const traced = await traceTrigger(trigger, configuration, ports);
      steps.push(...traced.steps);
      intents.push(...traced.intents);
    }
    for (const intent of intents) steps.push(...(await intentSteps(intent, ports)));
  }
  steps.push(...(await rememberedSteps(event, configuration, row, ports)));
  return steps;
}

/** Rules with state cannot be judged again from the event: what they saw stands with the entity, for its last decisions. */
async function rememberedSteps(
  event: SourceEvent,
  configuration: Configuration,
  { at, configNumber }: EventRow,
  { book, ruleStates, ids }: TracePorts,
): Promise<readonly TraceStep[]> {
  const remembering = book.rulesOf(configuration, event.stream).filter((one) => one.ok && one.rule.memory !== null);
  if (remembering.length === 0) return [];
  const decisions = await decisionsAbout(event, ruleStates, ids.derive);
  return remembering.map(({ placed }) => {
    const saw = decisions.find(({ ruleId }) => ruleId === ruleIdOf(placed))?.saw;
    const more = { rule: ruleTitle(placed), ruleVersion: placed.version, configNumber };
    if (saw === undefined) return step('rule', null, 'what it saw is kept no more, or not yet', more);
    return step('rule', at, 'decided by what it keeps of the entity', { ...more, lines: [stringifyJson(saw)] });
  });
}

const bigintText = (_name: string, value: unknown): unknown => (typeof value === 'bigint' ? value.toString() : value);

function countWords(judgements: readonly Judgement[]): string {
  if (judgements.length === 0) return 'no rule listens on this stream';
  const fired = judgements.filter(({ outcome }) => outcome.kind === 'fired' || outcome.kind === 'asks').length;
  return `${judgements.length} ${judgements.length === 1 ? 'rule' : 'rules'} saw it, ${fired} fired`;
}

function ruleStep({ placed, outcome, triggerId }: Judgement, row: EventRow, lines: readonly string[]): TraceStep {
  const rule = ruleTitle(placed);
  const more = { rule, ruleVersion: placed.version, configNumber: row.configNumber, lines };
  switch (outcome.kind) {
    case 'disabled':
      return step('rule', row.at, 'did not fire: it is switched off', { ...more, lines: [], reason: 'disabled' });
    case 'not_fired':
      return step('rule', row.at, 'did not fire: `when` is false', { ...more, reason: 'when_false' });
    case 'failed':
      return step('rule', row.at, `did not fire: ${outcome.error}`, { ...more, reason: outcome.reason });
    case 'asks': {
      const { userIds, dropped } = outcome;
      const drops = dropped.map((drop) => `${whoIsDropped('user id', drop)} dropped: ${drop.reason} (${drop.detail})`);
      const partner = placed.body.recipients.from === 'lookup' ? placed.body.recipients.integration : '';
      const text = `fired: asks ${partner} about ${userIds.length} user ${userIds.length === 1 ? 'id' : 'ids'}`;
      return step('rule', row.at, text, { ...more, lines: drops });
    }
    case 'fired': {
      const { recipients, dropped } = outcome;
      const drops = dropped.map(
        (drop) => `${whoIsDropped('recipient', drop)} dropped: ${drop.reason} (${drop.detail})`,
      );
      const text = `fired: ${recipients.length} ${recipients.length === 1 ? 'recipient' : 'recipients'}`;
      return step('trigger', row.at, text, { ...more, id: triggerId, lines: drops });
    }
  }
}

async function intentSteps(intent: Intent, ports: TracePorts): Promise<TraceStep[]> {
  const { rule, ruleVersion, configNumber } = intent;
  const delivery = await ports.ledger.get(deliveryIdOf(intent, ports.ids));
  const holds = delivery?.intent.id === intent.id;
  const first = step('intent', intent.causedAt, intentWords(intent), {
    id: intent.id,
    position: holds ? delivery.intentPosition : null,
    rule,
    ruleVersion,
    configNumber,
  });
  if (!delivery) return [first, step('delivery', null, 'not in the ledger yet')];
  const own = deliverySteps(delivery, intent.id);
  return [first, ...own];
}
