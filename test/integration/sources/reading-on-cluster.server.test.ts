import { postgresPosition } from '@carillon/domain/changes';
import { OWNER_ACTOR } from '@carillon/domain/people';
import { untilFound } from '@carillon/testing/topology';
import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest';
import { describeWith } from '../../support/requirements.ts';
import { BUS, ClusterReaders, REF, type ReadingEngine } from './cluster-readers.ts';

const TIMEOUT = 120_000;

describeWith(['kafka', 'mongodb', 'postgres'], 'Engines of a cluster that read PostgreSQL and Kafka', () => {
  let cluster: ClusterReaders;
  let first: ReadingEngine;
  beforeAll(async () => {
    cluster = await ClusterReaders.open();
  }, TIMEOUT);
  afterAll(() => cluster.close(), TIMEOUT);
  beforeEach(async () => {
    first = cluster.startEngine();
    await cluster.untilStored('running', ({ state }) => state.kind === 'running');
  }, TIMEOUT);
  afterEach(() => cluster.stopEngines(), TIMEOUT);

  const insert = (id: number): Promise<unknown> => cluster.database.run('INSERT INTO orders VALUES ($1)', [id]);

  it(
    'continue in another engine after one died between append and position, with the same event id',
    async () => {
      await insert(1);
      await cluster.untilRow(1);
      const second = cluster.startEngine();
      const dead = first.dieAfterAppend();
      await insert(2);
      await dead;
      await insert(3);
      const rows = await cluster.untilRow(3);
      expect([rows['1']?.length, rows['2']?.length, rows['3']?.length]).toEqual([1, 2, 1]);
      expect(new Set(rows['2']).size).toBe(1);
      await untilFound('the second reader', () => (!first.reads() && second.reads()) || undefined);
    },
    TIMEOUT,
  );

  it(
    'read a topic on from the saved position in another engine, with the same event id',
    async () => {
      await cluster.untilStored('a topic', ({ tables }) => tables[0]?.problem === null, BUS);
      await cluster.send(1, 2);
      await cluster.untilRecord(2);
      cluster.startEngine();
      const dead = first.dieAfterAppend();
      await cluster.send(3);
      await dead;
      await cluster.send(4);
      const records = await cluster.untilRecord(4);
      expect(Object.values(records).map((ids) => ids.length)).toEqual([1, 1, 2, 1]);
      expect(new Set(records['3']).size).toBe(1);
      // After the position was saved, no change is read again.
      await cluster.stopEngines();
      cluster.startEngine();
      await cluster.send(5);
      expect(await cluster.untilRecord(5)).toEqual({ ...records, 5: [expect.any(String)] });
    },
    TIMEOUT,
  );

  it(
    'wait until a paused engine releases the slot, and that engine saves no position when it resumes',
    async () => {
      await insert(11);
      await cluster.untilRow(11);
      first.pause();
      await insert(12);
      const second = cluster.startEngine();
      const waiting = await cluster.untilStored(
        'in use',
        ({ state }) => 'reason' in state && state.reason === 'in_use',
      );
      first.resume();
      await cluster.untilStored(
        'running',
        ({ state, version }) => state.kind === 'running' && version > waiting.version,
      );
      await insert(13);
      const rows = await cluster.untilRow(13);
      // The paused engine appends what it had in hand; the other one reads that again.
      expect([rows['11']?.length, rows['12']?.length, rows['13']?.length]).toEqual([1, 2, 1]);
      expect(new Set(rows['12']).size).toBe(1);
      await untilFound('one reader', () => (!first.reads() && second.reads()) || undefined);
    },
    TIMEOUT,
  );

  it(
    'carry out a reset that another process requested',
    async () => {
      const source = await cluster.untilStored('a slot', ({ lagBytes }) => lagBytes !== null);
      const position = postgresPosition(source.position);
      const cut = 'SELECT pg_terminate_backend(active_pid) FROM pg_replication_slots WHERE slot_name = $1';
      await untilFound('the end of the slot', async () => {
        await cluster.database.run(cut, [position?.slot]);
        const drop = 'SELECT pg_drop_replication_slot($1)';
        return (await cluster.database.run(drop, [position?.slot]).catch(() => null)) ?? undefined;
      });
      const stopped = await cluster.untilStored('stopped', ({ state }) => state.kind === 'stopped');
      expect(stopped.state).toMatchObject({ reason: 'slot_gone' });
      const request = { by: OWNER_ACTOR, reason: 'looked', at: 1, from: stopped.position, gone: false };
      expect(await cluster.store.requestReset(REF, stopped.version, request)).toBe('done');
      await cluster.untilStored('reset', ({ state, reset }) => state.kind === 'running' && reset === null);
      await insert(21);
      expect(await cluster.untilRow(21)).toMatchObject({ 21: [expect.any(String)] });
      expect(await cluster.records('carillon.audit')).toHaveLength(1);
    },
    TIMEOUT,
  );
});
