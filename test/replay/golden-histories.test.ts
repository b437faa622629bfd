import { copyFileSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { EventId, Json, LogId } from '@carillon/kernel';
import type { LookupItem } from '@carillon/domain/lookups';
import { ENGINE_SEMANTICS, evaluateEvent, readSourceRecord, resolveLookup } from '@carillon/stages';
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

type History = {
  readonly resources: readonly { readonly kind: string; readonly name: string; readonly body: object }[];
  readonly events: readonly { readonly stream: string; readonly body?: object; readonly change?: object }[];
  /** What the partner knows of each user id. */
  readonly answers?: Readonly<Record<string, { readonly email: string; readonly name: string }>>;
};

function outputsOf({ resources, events, answers = {} }: History): readonly object[] {
  const wishes = resources.map(({ kind, name, body }) => ({ ref: { kind, workspace: 'shop', name }, body }));
  const configuration = configurationOf(wishes as never);
  const book = givenRuleBook();
  const { derive } = givenIds;
  return events.flatMap(({ stream, body, change }, offset) => {
    const source = readSourceRecord(
      {
        topic: 'carillon.events',
        partition: 0,
        offset,
        time: MORNING + offset,
        key: 'key',
        value: new TextEncoder().encode(JSON.stringify(change ?? body)),
        headers: {
          kind: 'event',
          enc: '0',
          workspace: 'shop',
          stream,
          event_id: `evt_${offset + 1}` as EventId,
          ...(change && { shape: 'change' }),
        },
      },
      'log_1' as LogId,
    );
    if (!source.ok || source.value.kind !== 'event') throw new Error(`event ${offset + 1} cannot be read`);
    return evaluateEvent(source.value.event, configuration, book, derive).flatMap(({ intents, triggers }) => [
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
  const newest = join(FOLDER, String(numbers.at(-1)));
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
