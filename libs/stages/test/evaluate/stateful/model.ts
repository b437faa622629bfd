import {
  compileRule,
  emptyMemory,
  formatMemory,
  nextDueOf,
  passDeadlines,
  readMemory,
  startTurn,
} from '@carillon/domain/rules';
import type { EntityMemory, KeyedEvent } from '@carillon/domain/rules';
import { streamTable, type PlacedRule } from '@carillon/domain/configuration';
import { runToCompletion, type EventId, type LogId } from '@carillon/kernel';
import {
  configurationOf,
  givenExpressions,
  givenIds,
  notification,
  ORDER_PAID,
  ORDERS,
  stream,
} from '@carillon/testing/given';
import { evaluateOutcomesCoroutine, type BookRule } from '../../../src/index.ts';
import { AFTER, isEdit, owedOf, type ModelRecord } from './model-logs.ts';

/*
 * Every order of the steps of two workers that both believe they hold a partition, over the product's own evaluation: a
 * batch, its outputs, each state and the checkpoint, with a crash at any step. At all times what was appended is part of
 * what the log alone says. Once the log is handled to its end it is all of it.
 */

/** Mistakes that the design rules out. Each of them breaks the model. */
export const MODEL_FAULTS = {
  deadline_keeps_offset: 'a deadline leaves the number that saves are compared by',
  deadline_moves_applied: 'a deadline counts as an applied event, so that the record itself is skipped',
  states_before_outputs: 'states are saved before outputs are appended',
  position_before_states: 'the checkpoint is saved before the states',
  no_fence: 'the last save of a state wins',
  deadline_fires_first: 'a wait ends at a record of its very deadline',
  own_entity_in_order: "passes the record's own entity in a commit that may leave the record to the next one",
  part_moves_position: 'a commit that leaves waits of a record for the next one moves the checkpoint past that record',
  fires_on_start: 'what is overdue fires when a worker starts',
  cache_survives: 'what a worker knows of entities outlives its assignment',
  configuration_of_end: 'waits of a batch end by the configuration at the end of the batch',
  revives: 'a rule that was removed and published again takes over its waits',
} as const;
export type ModelFault = keyof typeof MODEL_FAULTS;

const placedWith = (enabled: boolean): PlacedRule => {
  const rule = {
    stream: 'orders',
    enabled,
    when: 'event.kind == "arm"',
    after: `${AFTER}s`,
    unless: 'event.kind == "end"',
    recipients: { from: 'event', to: { email: '"a@example.com"' }, unique_id: 'event_id' },
  } as const;
  const configuration = configurationOf([
    stream('orders', { ...ORDERS, key: 'event.id' }),
    notification('n', { ...ORDER_PAID, rules: { r: rule } }),
  ]);
  const placed = streamTable(configuration).rules.get('shop/orders')?.[0];
  if (!placed) throw new Error('the rule is not in its stream');
  return placed;
};
const entryOf = (enabled: boolean): BookRule => {
  const placed = placedWith(enabled);
  const compiled = compileRule(placed, givenExpressions);
  if (!compiled.ok) throw new Error('the rule cannot be compiled');
  return { ok: true, placed, rule: compiled.value };
};
const ENTRIES = { on: entryOf(true), off: entryOf(false) } as const;

/** The rule after it was removed and published again `times` times. */
function entriesOf(isOn: boolean, times: number): readonly BookRule[] {
  const entry = ENTRIES[isOn ? 'on' : 'off'];
  if (!entry.ok) throw new Error('the rule cannot be compiled');
  const placed = { ...entry.placed, since: entry.placed.since + times };
  return [{ ok: true, placed, rule: { ...entry.rule, placed } }];
}

/** A memory as a store keeps it. */
type Stored = readonly [offset: number, text: string];
type States = Readonly<Record<string, Stored>>;
type Place = readonly [next: number, watermark: number, on: boolean, times: number];
type Worker = {
  readonly phase: 'down' | 'idle' | 'writes';
  readonly at: Place;
  readonly cache: States;
  readonly outputs: readonly string[];
  readonly saves: readonly (readonly [entity: string, state: Stored])[];
  readonly goal: Place | null;
};
type World = {
  readonly stored: States;
  readonly checkpoint: Place;
  readonly told: readonly string[];
  readonly workers: readonly Worker[];
  readonly crashes: number;
};

const DOWN: Worker = { phase: 'down', at: [0, 0, true, 0], cache: {}, outputs: [], saves: [], goal: null };
const LOG = 'log_1' as LogId;
const keyed = (record: ModelRecord, offset: number): KeyedEvent => ({
  id: `evt_${String(offset).padStart(26, '0')}` as EventId,
  workspace: 'shop',
  stream: 'shop/orders',
  key: record.entity ?? '',
  body: { id: record.entity ?? '', kind: record.kind },
  change: null,
  position: { logId: LOG, topic: 'carillon.events', partition: 0, offset },
  appendedAt: record.at * 1_000,
  time: record.at * 1_000,
  traceparent: null,
});

export type Bounds = { readonly batches: readonly number[]; readonly most: number };
type Batch = Pick<Worker, 'cache' | 'outputs' | 'saves' | 'goal'>;

/** One batch of a worker, as the evaluate stage does it: outputs, states to save and the checkpoint. */
function evaluateBatch(
  log: readonly ModelRecord[],
  { at: [next, before, wasOn, timesBefore], cache }: Worker,
  stored: States,
  { size, most, fault }: { readonly size: number; readonly most: number; readonly fault: ModelFault | null },
): Batch {
  const memories = new Map<string, EntityMemory>();
  const changed = new Set<string>();
  const outputs: string[] = [];
  const memoryOf = (entity: string): EntityMemory => {
    const known = cache[entity] ?? stored[entity];
    const memory =
      memories.get(entity) ??
      (known ? readMemory(known[1], known[0]) : emptyMemory({ workspace: 'shop', stream: 'shop/orders', key: entity }));
    memories.set(entity, memory);
    return memory;
  };
  const put = (entity: string, memory: EntityMemory): void => {
    memories.set(entity, memory);
    changed.add(entity);
  };
  const end = Math.min(log.length, next + size);
  const newest = log.slice(next, end).findLast(isEdit);
  let [watermark, on, times] = [before, wasOn, timesBefore];
  let passed = 0;
  let at = next;
  for (; at < end; at += 1) {
    const record = log[at];
    if (!record) break;
    const now = Math.max(watermark, record.at);
    const limit = now * 1_000 + (fault === 'deadline_fires_first' ? 1 : 0);
    const isOn = fault === 'configuration_of_end' && newest ? newest.kind !== 'off' : on;
    let isLeft = false;
    // The record's own entity is passed last, in the commit that takes the record.
    const own = fault === 'own_entity_in_order' ? undefined : record.entity;
    for (const entity of own === 'a' ? ['b', 'a'] : ['a', 'b']) {
      const memory = memoryOf(entity);
      if ((nextDueOf(memory) ?? limit) >= limit) continue;
      isLeft = passed >= most && entity !== own;
      if (isLeft) break;
      passed += 1;
      const position = { logId: LOG, topic: 'carillon.events', partition: 0, offset: at };
      const entries = entriesOf(isOn, fault === 'revives' ? 0 : times);
      const step = runToCompletion(passDeadlines(memory, { position, watermark: limit }, entries, () => 'trg_1'));
      for (const { event, outcome } of step.passed)
        if (outcome.kind === 'fired') outputs.push(`${entity}${Number(event.id.slice(4))}`);
      put(entity, {
        ...step.memory,
        ...(fault === 'deadline_keeps_offset' && { offset: memory.offset }),
        ...(fault === 'deadline_moves_applied' && { appliedOffset: at }),
      });
    }
    if (isLeft && fault !== 'part_moves_position') break;
    watermark = now;
    if (isEdit(record)) on = record.kind !== 'off';
    if (record.kind === 'again') times += 1;
    if (isLeft) {
      at += 1;
      break;
    }
    if (record.entity === undefined) continue;
    const states = {
      turn: (event: KeyedEvent) => {
        const memory = memoryOf(event.key);
        return startTurn(memory, event, now * 1_000);
      },
      put: (event: KeyedEvent, memory: EntityMemory) => put(event.key, memory),
    };
    const entries = entriesOf(on, fault === 'revives' ? 0 : times);
    runToCompletion(evaluateOutcomesCoroutine(keyed(record, at), entries, givenIds.derive, states, now * 1_000));
  }
  const storedOf = (entity: string): Stored => [memoryOf(entity).offset, formatMemory(memoryOf(entity))];
  return {
    cache: { ...cache, ...Object.fromEntries([...memories.keys()].map((entity) => [entity, storedOf(entity)])) },
    outputs,
    saves: [...changed].map((entity) => [entity, storedOf(entity)]),
    goal: [at, watermark, on, times],
  };
}

const ORDER = ['outputs', 'saves', 'goal'] as const;
const orderWith = (fault: ModelFault | null): readonly (typeof ORDER)[number][] =>
  fault === 'states_before_outputs'
    ? ['saves', 'outputs', 'goal']
    : fault === 'position_before_states'
      ? ['outputs', 'goal', 'saves']
      : ORDER;

/** Gives equal values the same number, so that the long texts of states are compared once. */
class Numbers {
  readonly #ofText = new Map<string, number>();
  readonly #ofObject = new WeakMap<object, number>();

  of(value: object): number {
    const known = this.#ofObject.get(value);
    if (known !== undefined) return known;
    const text = JSON.stringify(value);
    const number = this.#ofText.get(text) ?? this.#ofText.size;
    this.#ofText.set(text, number);
    this.#ofObject.set(value, number);
    return number;
  }
}

type Model = {
  readonly log: readonly ModelRecord[];
  readonly bounds: Bounds;
  readonly fault: ModelFault | null;
  /** Batches that were evaluated, by what they depend on. Most worlds differ in other things. */
  readonly known: Map<string, Batch>;
  readonly numbers: Numbers;
};

const workerText = ({ phase, at, cache, outputs, saves, goal }: Worker, numbers: Numbers): string =>
  `${phase} ${at.join()} ${numbers.of(cache)} ${outputs.join()} ${numbers.of(saves)} ${goal?.join() ?? ''}`;

/** Worlds with the same text go on alike. It does not matter which of the two workers is which. */
function textOf({ stored, checkpoint, told, workers, crashes }: World, numbers: Numbers): string {
  const texts = workers.map((worker) => workerText(worker, numbers)).toSorted();
  return `${numbers.of(stored)}|${checkpoint.join()}|${told.join()}|${texts.join('|')}|${crashes}`;
}

function batchOf(
  { log, bounds: { most }, fault, known, numbers }: Model,
  worker: Worker,
  stored: States,
  size: number,
) {
  const key = `${worker.at.join()} ${numbers.of(worker.cache)} ${numbers.of(stored)} ${size}`;
  const batch = known.get(key) ?? evaluateBatch(log, worker, stored, { size, most, fault });
  known.set(key, batch);
  return batch;
}

/** Returns every world that one step of one worker leads to. */
function* stepsOf(world: World, model: Model) {
  const { log, bounds, fault } = model;
  for (const [index, worker] of world.workers.entries()) {
    const become = (next: Worker, more: Partial<World> = {}): World => ({
      ...world,
      ...more,
      workers: world.workers.map((each, at) => (at === index ? next : each)),
    });
    const lost: Worker = fault === 'cache_survives' ? { ...DOWN, cache: worker.cache } : DOWN;
    if (worker.phase === 'down') {
      const told = fault === 'fires_on_start' ? toldWith(world.told, overdueOf(world.stored)) : world.told;
      yield become({ ...DOWN, phase: 'idle', at: world.checkpoint, cache: lost.cache }, { told });
      continue;
    }
    if (world.crashes > 0) yield become(lost, { crashes: world.crashes - 1 });
    if (worker.phase === 'idle') {
      const left = log.length - worker.at[0];
      for (const size of left > 0 ? bounds.batches : []) {
        if (size > 1 && size > left) continue;
        yield become({ ...worker, phase: 'writes', ...batchOf(model, worker, world.stored, size) });
      }
      continue;
    }
    yield save(world, worker, become, lost, fault);
  }
}

const overdueOf = (stored: States): readonly string[] =>
  Object.entries(stored).flatMap(([entity, [offset, text]]) =>
    Object.values(readMemory(text, offset).rules).flatMap(({ wait }) => (wait ? [`${entity}${wait.event}`] : [])),
  );

const toldWith = (told: readonly string[], more: readonly string[]): readonly string[] =>
  [...new Set([...told, ...more])].toSorted();

/** The next write of a worker. */
function save(
  world: World,
  worker: Worker,
  become: (next: Worker, more?: Partial<World>) => World,
  lost: Worker,
  fault: ModelFault | null,
): World {
  const isLeft = (part: (typeof ORDER)[number]): boolean =>
    part === 'goal' ? worker.goal !== null : worker[part].length > 0;
  const part = orderWith(fault).find(isLeft);
  if (part === undefined) return become({ ...worker, phase: 'idle' });
  if (part === 'outputs') {
    return become(
      { ...worker, outputs: worker.outputs.slice(1) },
      { told: toldWith(world.told, worker.outputs.slice(0, 1)) },
    );
  }
  if (part === 'goal') {
    const goal = worker.goal ?? worker.at;
    if (world.checkpoint[0] > goal[0]) return become(lost);
    return become({ ...worker, at: goal, goal: null }, { checkpoint: goal });
  }
  const [[entity, state]] = worker.saves as readonly [Worker['saves'][number]];
  const saves = worker.saves.slice(1);
  const there = world.stored[entity]?.[0] ?? -1;
  if (fault === 'no_fence' || there < state[0])
    return become({ ...worker, saves }, { stored: { ...world.stored, [entity]: state } });
  return there === state[0] ? become({ ...worker, saves }) : become(lost);
}

export type Explored = { readonly worlds: number; readonly isCut: boolean; readonly wrong: string | null };

/** Goes through every order of steps over a log, up to a number of worlds. */
export function explore(
  log: readonly ModelRecord[],
  bounds: Bounds & { readonly crashes: number; readonly cap: number },
  fault: ModelFault | null = null,
): Explored {
  const owed = owedOf(log);
  const first: World = {
    stored: {},
    checkpoint: [0, 0, true, 0],
    told: [],
    workers: [DOWN, DOWN],
    crashes: bounds.crashes,
  };
  const numbers = new Numbers();
  const model: Model = { log, bounds, fault, known: new Map(), numbers };
  const seen = new Set([textOf(first, numbers)]);
  const stack = [first];
  for (let world = stack.pop(); world; world = stack.pop()) {
    const wrong = world.told.find((each) => !owed.has(each));
    if (wrong !== undefined) return { worlds: seen.size, isCut: false, wrong: `told ${wrong}, which is not owed` };
    const isAtEnd = world.checkpoint[0] >= log.length && world.workers.every(({ phase }) => phase !== 'writes');
    if (isAtEnd && world.told.length !== owed.size) return { worlds: seen.size, isCut: false, wrong: 'lost a message' };
    for (const next of stepsOf(world, model)) {
      const key = textOf(next, numbers);
      if (seen.has(key)) continue;
      seen.add(key);
      stack.push(next);
    }
    if (seen.size > bounds.cap) return { worlds: seen.size, isCut: true, wrong: null };
  }
  return { worlds: seen.size, isCut: false, wrong: null };
}
