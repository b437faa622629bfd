import { DEFAULT_TOPIC_RETENTION } from '@carillon/contracts';
import { EMPTY_CONFIGURATION, foldConfiguration } from '@carillon/domain/configuration';
import { logRecord } from '@carillon/testing';
import { createDirectWire, createMemoryLog } from '@carillon/testing/memory';
import { describe, expect, it } from 'vitest';
import { retentionNotes } from '../src/retention-notes.ts';
import { LOG_ID } from './control-fixture.ts';

const DAY = 86_400_000;
const START = Date.parse('2026-01-01T00:00:00Z');
const ref = { kind: 'deployment', workspace: '', name: '' } as const;

/** A log with one event a day for forty days, ten of them in another partition. */
async function fortyDays() {
  const clock = { time: START, now: () => clock.time };
  const log = createMemoryLog({ logId: LOG_ID, partitions: 2, now: clock.now }).connect(createDirectWire());
  for (let day = 0; day < 40; day += 1) {
    await log.append([logRecord(String(day), { topic: 'carillon.events', partition: day % 4 === 0 ? 1 : 0 })]);
    clock.time += DAY;
  }
  return { log, clock, unnamedRetention: null };
}

describe('the notes of a change of retention', () => {
  it('say how many records a topic loses, and how old the oldest is', async () => {
    const ports = await fortyDays();
    const notes = (retention: object) => retentionNotes({ ref, body: { retention } }, EMPTY_CONFIGURATION, ports);
    expect(await notes({ events: '30d' })).toEqual([
      'retention.events removes 10 records of carillon.events, the oldest of 2026-01-01T00:00:00.000Z',
    ]);
    expect(await notes({ events: '1d', intents: '1d' })).toEqual([
      'retention.events removes 39 records of carillon.events, the oldest of 2026-01-01T00:00:00.000Z',
    ]);
    expect(await notes({ events: '40d' })).toEqual([]);
    expect(await notes({ events: 'forever' })).toEqual([]);
  });

  it('name the records removed when a topic returns to the default retention', async () => {
    const ports = await fortyDays();
    const facts = { changes: [{ ref, based_on: null, body: { retention: { events: '90d' } } }] };
    const current = foldConfiguration(EMPTY_CONFIGURATION, facts, 1).configuration;
    const notes = (unnamedRetention: typeof DEFAULT_TOPIC_RETENTION | null) =>
      retentionNotes({ ref, body: {} }, current, { ...ports, unnamedRetention });
    const removal = 'removes 10 records of carillon.events, the oldest of 2026-01-01T00:00:00.000Z';
    expect(await notes(DEFAULT_TOPIC_RETENTION)).toEqual([`the default without retention.events ${removal}`]);
    expect(await notes(null)).toEqual([]);
  });

  it('are empty for an unchanged retention, and for other resources', async () => {
    const ports = await fortyDays();
    const body = { retention: { events: '30d' } };
    const facts = { changes: [{ ref, based_on: null, body }] };
    const current = foldConfiguration(EMPTY_CONFIGURATION, facts, 1).configuration;
    expect(await retentionNotes({ ref, body }, current, ports)).toEqual([]);
    const workspace = { kind: 'workspace', workspace: 'shop', name: '' } as const;
    expect(await retentionNotes({ ref: workspace, body: {} }, EMPTY_CONFIGURATION, ports)).toEqual([]);
  });
});
