import {
  foldConfiguration,
  ruleIdOf,
  streamTable,
  type Configuration,
  type RuleBody,
} from '@carillon/domain/configuration';
import type { Intent } from '@carillon/domain/deliveries';
import { triggerIdOf } from '@carillon/domain/lookups';
import {
  compileRule,
  emptyMemory,
  entityOf,
  forgetEntity,
  formatMemory,
  nextDueOf,
  passDeadlines,
  readMemory,
  startTurn,
  type EntityMemory,
  type EntityTurn,
  type ExpressionCompiler,
  type KeyedEvent,
} from '@carillon/domain/rules';
import type { TemplateNames } from '@carillon/ports';
import { runToCompletion, type EventId, type LogId } from '@carillon/kernel';
import {
  changesOf,
  configurationOf,
  givenExpressions,
  givenIds,
  givenTemplates,
  notification,
  stream,
  template,
  workspaceOf,
} from '@carillon/testing/given';
import { expect } from 'vitest';
import { causeOfEvent, createRuleBook, evaluateEventCoroutine, makeIntents } from '../../../src/index.ts';
import { textOf, ZONE, type Case, type CaseRecord, type RuleSpec, type TotalSpec } from './cases.ts';
import { readsPrevious, rulesAtEach } from './oracle.ts';

/** Few texts are compiled often. */
const compiled = new Map<string, ReturnType<ExpressionCompiler['compile']>>();
const language: ExpressionCompiler = {
  compile(source, place) {
    const key = `${place} ${source}`;
    const known = compiled.get(key) ?? givenExpressions.compile(source, place);
    compiled.set(key, known);
    return known;
  },
};
const templates = givenTemplates();
/** All cases have one template. */
let names: TemplateNames | undefined;
const book = createRuleBook((placed) => compileRule(placed, language), {
  names: (only) => (names ??= templates.names(only)),
  fields: () => [],
});
const { derive } = givenIds;

export const ruleBodyOf = (spec: RuleSpec & { readonly isEnabled: boolean }): RuleBody => {
  const { wait } = spec;
  return {
    stream: 'orders',
    enabled: spec.isEnabled,
    when: textOf(spec.when),
    ...(spec.totals.length > 0 && {
      totals: Object.fromEntries(spec.totals.map((total, at) => [`t${at}`, totalBodyOf(total)])),
    }),
    ...(wait?.by === 'after' && { after: `${wait.seconds}s` }),
    ...(wait?.by === 'after_last' && { after_last: `${wait.seconds}s` }),
    ...(wait?.by === 'at' && {
      at: wait.before === 0 ? 'event.starts' : `timestamp(event.starts) - duration("${wait.before}s")`,
      if_past: wait.ifPast,
    }),
    ...(wait && spec.unless && { unless: textOf(spec.unless) }),
    ...(spec.cooldown !== null && {
      cooldown: typeof spec.cooldown === 'number' ? `${spec.cooldown}s` : spec.cooldown,
    }),
    recipients: {
      from: 'event',
      to: { email: 'event.email' },
      unique_id: 'event_id',
      variables: {
        ...(wait && { due: 'string(deadline)' }),
        ...(readsPrevious(spec) && { was: 'previous.kind' }),
        ...(spec.totals.length > 0 && { n: 'totals.t0' }),
      },
    },
  };
};

const totalBodyOf = ({ kind, where, within }: TotalSpec): NonNullable<RuleBody['totals']>[string] => ({
  ...(kind === 'count' && { count: textOf(where) }),
  ...(kind === 'sum' && { sum: 'event.count', where: textOf(where) }),
  ...(kind === 'distinct' && { distinct: 'event.kind', where: textOf(where) }),
  within: typeof within === 'number' ? `${within}s` : `calendar ${within}`,
});

/** A shop without notifications. Its stream has this grace in seconds, or no `time` path. */
export const baseWith = (grace: number | null): Configuration =>
  configurationOf([
    workspaceOf({ time_zone: ZONE }, 'shop'),
    stream('orders', {
      key: 'event.id',
      forget_after: '1d',
      security: { api_keys: ['backend'] },
      ...(grace !== null && { time: 'event.at', grace: `${grace}s` }),
    }),
    template('mail', { email: { subject: 'x', text: '{{kind}} {{due}} {{was}} {{n}} {{totals.t0}}' } }),
  ]);
const published = new WeakMap<Case, readonly Configuration[]>();

/** The configuration at each record. Each edit is published by itself. */
export function configurationsOf(given: Case): readonly Configuration[] {
  const configurations = published.get(given) ?? publishEach(given);
  published.set(given, configurations);
  return configurations;
}

function publishEach(given: Case): readonly Configuration[] {
  let configuration = baseWith(given.grace);
  let newest: unknown;
  return rulesAtEach(given).map((specs) => {
    if (specs === newest) return configuration;
    newest = specs;
    const rules = Object.fromEntries(specs.map((spec) => [`r${spec.rule}`, ruleBodyOf(spec)]));
    const wish = notification('n', { channels: { email: { template: 'mail' } }, rules });
    const record = { changes: changesOf(configuration, [wish]) };
    ({ configuration } = foldConfiguration(configuration, record, configuration.number + 1));
    return configuration;
  });
}

const LOG = 'log_1' as LogId;

export function eventOf(record: Extract<CaseRecord, { readonly holds: 'event' }>, offset: number): KeyedEvent {
  const { id, entity, body, at, time } = record;
  return {
    id: id as EventId,
    workspace: 'shop',
    stream: 'shop/orders',
    key: entity,
    body,
    change: null,
    position: { logId: LOG, topic: 'carillon.events', partition: 0, offset },
    appendedAt: at,
    time,
    traceparent: null,
  };
}

/** How a run is cut into batches, and where it crashes. */
export type Run = {
  /** Records per batch. */
  readonly batch: number;
  /** Batches after which the process dies between its saves, by their number. The saves of even entities are lost. */
  readonly crashes: ReadonlySet<number>;
  /** Removes forgotten states from the store after each batch. */
  readonly sweeps: boolean;
};

/** Runs the product's evaluation over the records, and returns the intents that are on the log, once each, in order of their ids. */
export function intentsOf(given: Case, { batch, crashes, sweeps }: Run): readonly Intent[] {
  const configurations = configurationsOf(given);
  const store = new Map<string, { readonly offset: number; readonly text: string }>();
  const log = new Map<string, Intent>();
  const left = new Set(crashes);
  let checkpoint = 0;
  let watermark = 0;
  for (let number = 0; checkpoint < given.records.length; number += 1) {
    const end = Math.min(given.records.length, checkpoint + batch);
    const result = runBatch(given, configurations, store, { from: checkpoint, end, watermark });
    for (const intent of result.intents) {
      const known = log.get(intent.id);
      // A crash repeats intents as they were. The ledger takes the first of those with one id.
      if (known?.eventPosition === intent.eventPosition) expect(intent).toEqual(known);
      if (!known) log.set(intent.id, intent);
    }
    const dies = left.delete(number);
    for (const [at, [entity, memory]] of [...result.changed].entries()) {
      if (dies && at % 2 === 0) continue;
      const stored = store.get(entity);
      if (!stored || stored.offset < memory.offset)
        store.set(entity, { offset: memory.offset, text: formatMemory(memory) });
    }
    if (!dies) ({ end: checkpoint, watermark } = result);
    for (const [entity, { offset, text }] of sweeps ? store : []) {
      const memory = readMemory(text, offset);
      const isOld = memory.forgetAt !== null && memory.forgetAt < watermark;
      if (isOld && nextDueOf(memory) === null) store.delete(entity);
    }
  }
  return [...log.values()].toSorted((a, b) => (a.id < b.id ? -1 : 1));
}

type Stored = ReadonlyMap<string, { readonly offset: number; readonly text: string }>;

function runBatch(
  { records }: Case,
  configurations: readonly Configuration[],
  store: Stored,
  { from, end, watermark: before }: { readonly from: number; readonly end: number; readonly watermark: number },
) {
  const intents: Intent[] = [];
  const changed = new Map<string, EntityMemory>();
  const memoryOf = (key: string): EntityMemory => {
    const stored = store.get(key);
    const entity = { workspace: 'shop', stream: 'shop/orders', key };
    const read = stored && readMemory(stored.text, stored.offset, entity);
    return changed.get(key) ?? read ?? emptyMemory(entity);
  };
  let watermark = before;
  const states = {
    turn: (event: KeyedEvent): EntityTurn | null => {
      const memory = memoryOf(event.key);
      if (entityOf(event).stream !== memory.entity.stream) throw new Error('another entity');
      return startTurn(memory, event, watermark);
    },
    put: (event: KeyedEvent, memory: EntityMemory) => void changed.set(event.key, memory),
    save: () => Promise.resolve('done' as const),
  };
  for (let offset = from; offset < end; offset += 1) {
    const record = records[offset];
    const configuration = configurations[offset];
    if (!record || !configuration) throw new Error('a record');
    watermark = Math.max(watermark, record.at);
    const position = { logId: LOG, topic: 'carillon.events', partition: 0, offset };
    const entries = book.rulesOf(configuration, 'shop/orders');
    for (const key of new Set([...store.keys(), ...changed.keys()])) {
      const memory = memoryOf(key);
      const due = nextDueOf(memory);
      if (due === null || due >= watermark) continue;
      const step = runToCompletion(
        passDeadlines(memory, { position, watermark }, entries, (placed, eventId) =>
          triggerIdOf(derive, ruleIdOf(placed), eventId),
        ),
      );
      if (step.memory !== memory) changed.set(key, step.memory);
      for (const { placed, event, deadline, totals, outcome } of step.passed) {
        if (outcome.kind !== 'fired') continue;
        const triggerId = triggerIdOf(derive, ruleIdOf(placed), event.id);
        const cause = causeOfEvent(event, placed, { deadline, totals });
        for (const recipient of outcome.recipients) {
          intents.push(...makeIntents(placed, cause, recipient, triggerId, { configuration, book, derive }));
        }
      }
    }
    if (record.holds === 'forget') {
      const forgotten = forgetEntity(memoryOf(record.entity), { position, watermark }, entries);
      if (forgotten) changed.set(record.entity, forgotten.memory);
    }
    if (record.holds !== 'event') continue;
    const event = eventOf(record, offset);
    const run = { runId: null, states };
    for (const each of runToCompletion(evaluateEventCoroutine(event, configuration, book, derive, run))) {
      intents.push(...each.intents);
    }
  }
  return { intents, changed, end, watermark };
}

export const versionOf = (configuration: Configuration, rule: number): number =>
  streamTable(configuration)
    .rules.get('shop/orders')
    ?.find(({ name }) => name === `r${rule}`)?.version ?? 0;
