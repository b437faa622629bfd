import { statSync, truncateSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { Worker } from 'node:worker_threads';
import type { Finding, Line } from '@carillon/domain/runs';
import type { DeliveryId, EventId } from '@carillon/kernel';
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { openScratchFile, ScratchFileTaken, type ScratchFile } from '../src/index.ts';
import { temporaryFolder } from './open-embedded.ts';

let folder = temporaryFolder();
let file: string;
beforeEach(() => {
  folder = temporaryFolder();
  file = join(folder.path, 'runs', 'run_1.scratch');
});
afterEach(() => folder.remove());

function open(identity = 'run_1', maxBytes?: number): ScratchFile {
  const scratch = openScratchFile(file, identity, maxBytes);
  onTestFinished(() => scratch.close());
  return scratch;
}

const lineOf = (slot: string): Line => ({
  slot: slot as DeliveryId,
  side: 'after',
  ruleId: 'rul_1',
  channel: 'email',
  eventId: 'evt_1' as EventId,
  position: 'carillon.events/0@1',
  at: 0,
  content: 'content',
  person: 'person',
  otherSlot: null,
  isCold: false,
});
const slotsOf = (scratch: ScratchFile): readonly string[] => [...scratch.lines(['slot'])].map(({ slot }) => slot);

describe('the temporary file of a comparison or verification job', () => {
  it('stores the lines of a page together with its checkpoint, readable by its owner only', () => {
    open().commit({ lines: [lineOf('dlv_2'), lineOf('dlv_1')], checkpoint: 'page 1' });
    const reopened = open();
    expect(reopened.checkpoint).toBe('page 1');
    expect(slotsOf(reopened)).toEqual(['dlv_1', 'dlv_2']);
    expect(statSync(file).mode & 0o077).toBe(0);
  });

  it('keeps lookups in the order in which they were written', () => {
    const lookupOf = (eventId: string) => ({
      eventId: eventId as EventId,
      ruleId: 'rul_1',
      position: 'carillon.events/0@1',
      at: 7,
      userIds: 2,
    });
    open().commit({ lookups: [lookupOf('evt_2'), lookupOf('evt_1')], checkpoint: 'page 1' });
    expect([...open().lookups()]).toEqual([lookupOf('evt_2'), lookupOf('evt_1')]);
  });

  it('returns findings as they were written, or in the order of their fields', () => {
    const findingOf = (id: string, field: string | null): Finding => ({
      problem: field === null ? 'missing' : 'different',
      output: 'intent',
      id,
      field,
      rule: 'order-paid.paid',
      eventId: 'evt_1' as EventId,
      eventPosition: 'carillon.events/0@1',
      position: field && 'carillon.intents/0@1',
    });
    const [second, first, third] = [findingOf('int_2', 'to'), findingOf('int_1', 'to'), findingOf('int_0', null)];
    open().commit({ findings: [second, first, third] });
    expect([...open().findings()]).toEqual([second, first, third]);
    expect([...open().findings(['problem', 'id'])]).toEqual([first, second, third]);
  });

  it('returns the people of rows by difference and person until it is closed', () => {
    const personOf = (person: string, isNotified: boolean, difference: 'added' | 'removed' = 'added') => ({
      difference,
      person,
      isNotified,
    });
    const [ann, bob, removed] = [personOf('ann', true), personOf('bob', false), personOf('ann', true, 'removed')];
    const scratch = open();
    scratch.commit({ people: [removed, bob, ann] });
    expect([...scratch.people()]).toEqual([ann, bob, removed]);
    expect([...open().people()]).toEqual([]);
  });

  it('keeps its write-ahead log small while people are written and lines are read', () => {
    const scratch = open();
    scratch.commit({ lines: Array.from({ length: 1_000 }, (_, at) => lineOf(`dlv_${at}`)), checkpoint: 'page 1' });
    const before = statSync(`${file}-wal`).size;
    const lines = scratch.lines(['slot']);
    lines.next();
    const people = Array.from({ length: 500 }, (_, at) => ({
      difference: 'added' as const,
      person: `person ${at} ${'x'.repeat(100)}`,
      isNotified: false,
    }));
    for (let batch = 0; batch < 40; batch += 1) scratch.commit({ people });
    expect(statSync(`${file}-wal`).size).toBe(before);
    expect([...lines]).toHaveLength(999);
    expect([...scratch.people()]).toHaveLength(20_000);
  });

  it('is replaced if it belongs to another run or release', () => {
    open().commit({ lines: [lineOf('dlv_1')], checkpoint: 'page 1' });
    expect(open('run_1 of another release').checkpoint).toBeNull();
  });

  it('stores each page once if two processes write it', () => {
    const orphan = open();
    orphan.commit({ lines: [lineOf('dlv_1')], checkpoint: 'page 1' });
    const successor = open();
    orphan.commit({ lines: [lineOf('dlv_2')], checkpoint: 'page 2' });
    expect(() => successor.commit({ lines: [lineOf('dlv_2')], checkpoint: 'page 2' })).toThrow(ScratchFileTaken);
    const third = open();
    third.commit({ lines: [lineOf('dlv_3')], checkpoint: 'page 3' });
    expect(() => orphan.commit({ lines: [lineOf('dlv_3')], checkpoint: 'page 3' })).toThrow(ScratchFileTaken);
    expect(slotsOf(third)).toEqual(['dlv_1', 'dlv_2', 'dlv_3']);
  });

  it('waits for another process that is committing', async () => {
    const scratch = open();
    const other = new Worker(
      `const { DatabaseSync } = require('node:sqlite');
       const { parentPort, workerData } = require('node:worker_threads');
       const db = new DatabaseSync(workerData);
       db.exec('BEGIN IMMEDIATE');
       parentPort.postMessage('locked');
       setTimeout(() => { db.exec('ROLLBACK'); db.close(); }, 200);`,
      { eval: true, workerData: file },
    );
    const exited = new Promise((resolve) => other.once('exit', resolve));
    await new Promise((resolve) => other.once('message', resolve));
    scratch.commit({ lines: [lineOf('dlv_1')], checkpoint: 'page 1' });
    expect(slotsOf(scratch)).toEqual(['dlv_1']);
    await exited;
  });

  it('refuses a page beyond its maximum size with no_room, and keeps the pages before', () => {
    const scratch = open('run_1', 64 * 1024);
    scratch.commit({ lines: [lineOf('dlv_0')], checkpoint: 'page 1' });
    const lines = Array.from({ length: 2_000 }, (_, index) => lineOf(`dlv_${index}`));
    const detail = expect.stringContaining('more than 0.0625 MiB for its scratch file: choose a shorter') as string;
    expect(() => scratch.commit({ lines, checkpoint: 'page 2' })).toThrow(
      expect.objectContaining({ code: 'no_room', detail }),
    );
    expect(slotsOf(scratch)).toEqual(['dlv_0']);
    expect(open().checkpoint).toBe('page 1');
  });

  it('is replaced if it is truncated', () => {
    const first = openScratchFile(file, 'run_1');
    first.commit({ lines: Array.from({ length: 500 }, (_, at) => lineOf(`dlv_${at}`)), checkpoint: 'page 1' });
    first.close();
    const db = new DatabaseSync(file);
    db.exec('PRAGMA wal_checkpoint(TRUNCATE)');
    db.close();
    truncateSync(file, 8_192);
    expect(open().checkpoint).toBeNull();
  });
});
