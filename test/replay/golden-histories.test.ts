import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { ruleIdOf } from '@carillon/domain/configuration';
import { triggerIdOf, type LookupItem } from '@carillon/domain/lookups';
import {
  emptyMemory,
  entityOf,
  forgetEntity,
  passDeadlines,
  startTurn,
  type EntityMemory,
  type KeyedEvent,
} from '@carillon/domain/rules';
import { runToCompletion, type EventId, type Json, type LogId } from '@carillon/kernel';
import type { LogRecord } from '@carillon/ports';
import {
  ENGINE_SEMANTICS,
  evaluateEventCoroutine,
  outputsOfPassed,
  readSourceRecord,
  resolveLookup,
  type EvaluatedRule,
} from '@carillon/stages';
import { configurationOf, givenIds, givenLookup, givenRuleBook, MORNING } from '@carillon/testing/given';
import { describe, expect, it } from 'vitest';

/*
 * Golden histories: a log and the outputs that it gives, for the number of the evaluation semantics. To add a number, raise
 * ENGINE_SEMANTICS and run this test with CARILLON_GOLDEN=write: it copies the logs of the newest number and writes their outputs.
 */

const FOLDER = import.meta.dirname;
const WRITES = process.env['CARILLON_GOLDEN'] === 'write';
const FIX =
  'The same log gives other messages than before. If that is intended, raise ENGINE_SEMANTICS in ' +
  'libs/stages/src/append/source-record.ts and run this test with CARILLON_GOLDEN=write. If not, undo the change.';

/** An event, or without a stream a tick. `forget`: a record that has the entity of the key forgotten. */
type HistoryRecord = {
  readonly stream?: string;
  readonly key?: string;
  readonly body?: object;
  readonly change?: object;
  readonly forget?: true;
  /** Milliseconds between the start of the log and the append. The offset if it is left out. */
  readonly after?: number;
};

type History = {
  readonly resources: readonly { readonly kind: string; readonly name: string; readonly body: object }[];
  readonly events: readonly HistoryRecord[];
  /** What the partner knows of each user id. */
  readonly answers?: Readonly<Record<string, { readonly email: string; readonly name: string }>>;
};

function logRecord({ stream, key, body, change, forget, after }: HistoryRecord, offset: number): LogRecord {
  return {
    topic: 'carillon.events',
    partition: 0,
    offset,
    time: MORNING + (after ?? offset),
    key: 'key',
    value: new TextEncoder().encode(JSON.stringify(change ?? body ?? null)),
    headers:
      stream === undefined
        ? { kind: 'tick' }
        : {
            kind: forget ? 'forget' : 'event',
            enc: '0',
            workspace: 'shop',
            stream,
            event_id: `evt_${offset + 1}` as EventId,
            ...(key !== undefined && { key }),
            ...(change && { shape: 'change' }),
          },
  };
}

function outputsOf({ resources, events, answers = {} }: History): readonly object[] {
  const wishes = resources.map(({ kind, name, body }) => ({ ref: { kind, workspace: 'shop', name }, body }));
  const configuration = configurationOf(wishes as never);
  const book = givenRuleBook();
  const { derive } = givenIds;
  const making = { configuration, book, derive, runId: null };
  const memories = new Map<string, EntityMemory>();
  return events.flatMap((record, offset): readonly object[] => {
    const source = readSourceRecord(logRecord(record, offset), 'log_1' as LogId);
    if (!source.ok || source.value.kind === 'marker' || source.value.kind === 'erased')
      throw new Error(`record ${offset} cannot be read`);
    const { position, appendedAt: watermark } = source.value.kind === 'event' ? source.value.event : source.value;
    const evaluated: EvaluatedRule[] = [];
    for (const [key, memory] of memories) {
      const step = runToCompletion(
        passDeadlines(
          memory,
          { position, watermark },
          book.rulesOf(configuration, memory.entity.stream),
          (rule, event) => triggerIdOf(derive, ruleIdOf(rule), event),
        ),
      );
      memories.set(key, step.memory);
      evaluated.push(...step.passed.map((passed) => runToCompletion(outputsOfPassed(passed, making))));
    }
    if (source.value.kind === 'forget') {
      const { key, stream } = source.value.entity;
      const memory = memories.get(key);
      const forgotten = memory && forgetEntity(memory, { position, watermark }, book.rulesOf(configuration, stream));
      if (forgotten) memories.set(key, forgotten.memory);
    }
    if (source.value.kind === 'event') {
      const { event } = source.value;
      const states = {
        turn: (keyed: KeyedEvent) =>
          startTurn(memories.get(keyed.key) ?? emptyMemory(entityOf(keyed)), keyed, keyed.appendedAt),
        put: (keyed: KeyedEvent, memory: EntityMemory) => void memories.set(keyed.key, memory),
      };
      evaluated.push(
        ...runToCompletion(evaluateEventCoroutine(event, configuration, book, derive, { runId: null, states })),
      );
    }
    return evaluated.flatMap(({ intents, triggers }) => [
      ...intents.map((intent) => ({ intent })),
      ...triggers.flatMap((trigger) => {
        const items = trigger.userIds.flatMap((userId): LookupItem[] => {
          const person = answers[userId];
          if (!person) return [];
          return [{ userId, to: { email: person.email, phone: null, token: null }, variables: { name: person.name } }];
        });
        const resolved = resolveLookup(givenLookup({ trigger, items }), configuration, book, derive);
        return [{ trigger }, ...(resolved.ok ? resolved.value.intents.map((intent) => ({ intent })) : [])];
      }),
    ]);
  });
}

const numbers = readdirSync(FOLDER)
  .filter((name) => /^\d+$/.test(name))
  .map(Number)
  .toSorted((a, b) => a - b);
const folder = join(FOLDER, String(ENGINE_SEMANTICS));
const logsIn = (path: string): readonly string[] => readdirSync(path).filter((name) => name.endsWith('.in.json'));

function addNumber(): void {
  const newest = join(FOLDER, String(numbers.findLast((number) => number < ENGINE_SEMANTICS)));
  mkdirSync(folder, { recursive: true });
  for (const name of logsIn(newest))
    if (!existsSync(join(folder, name))) copyFileSync(join(newest, name), join(folder, name));
}

const read = (name: string): Json => JSON.parse(readFileSync(join(folder, name), 'utf8')) as Json;

describe('A golden history', () => {
  if (WRITES) addNumber();

  it(`exists for the evaluation semantics ${ENGINE_SEMANTICS}`, () => {
    expect(existsSync(folder), FIX).toBe(true);
  });

  for (const name of existsSync(folder) ? logsIn(folder) : []) {
    it(`gives the same outputs: ${name}`, () => {
      const outputs = outputsOf(read(name) as unknown as History);
      const file = name.replace('.in.json', '.out.json');
      // Another result of a number that has outputs is a mistake, so they are written once.
      if (WRITES && !existsSync(join(folder, file)))
        writeFileSync(join(folder, file), `${JSON.stringify(outputs, null, 2)}\n`);
      expect(JSON.parse(JSON.stringify(outputs)), FIX).toEqual(read(file));
    });
  }
});
