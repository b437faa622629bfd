import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  describeSource,
  describeDoneReset,
  describeLeft,
  describeSpan,
  describeTable,
  describeTableGap,
  resetStart,
  spanOnAudit,
  SOURCE_REASONS,
  type DescribedSource,
  type SourceKind,
  type SourcePosition,
  type SourceState,
  type StoppedReason,
} from '../../src/changes/index.ts';

const NOW = Date.parse('2026-11-28T10:00:00Z');
const source = (state: SourceState, more: Partial<DescribedSource> = {}): DescribedSource => ({
  workspace: 'shop',
  integration: 'shop-db',
  kind: 'postgres',
  state,
  position: { at: Date.parse('2026-11-28T09:12:04.500Z') },
  tables: [],
  reset: null,
  ...more,
});
const stopped = (reason: StoppedReason, detail: string | null = null): SourceState => ({
  kind: 'stopped',
  reason,
  detail,
  fix: null,
});
const sentence = (state: SourceState, more?: Partial<DescribedSource>): string =>
  describeSource(source(state, more), NOW).sentence;

describe('the text about a stopped database source', () => {
  it('states since when changes are missing, why, and the command that starts again', () => {
    expect(describeSource(source(stopped('slot_gone')), NOW)).toEqual({
      state: 'stopped',
      reason: 'slot_gone',
      sentence:
        'Changes since 09:12:04 UTC were not read: the slot was dropped. `carillon sources reset shop-db --reason "…"` begins again now.',
      fix: 'npx carillon sources reset shop-db --workspace shop --reason TEXT',
    });
  });

  it('states the date if it is not today, and continues at the replication slot if that can be used', () => {
    const position = { at: Date.parse('2026-11-27T23:59:59Z') };
    expect(sentence(stopped('slot_ahead', 'It is at 0/5000000.'), { position })).toBe(
      'Changes since 2026-11-27 23:59:59 UTC were not read: the slot is beyond the position that Carillon saved, ' +
        'as after a restored backup of Carillon (It is at 0/5000000). `carillon sources reset shop-db --reason "…"` begins again at the slot.',
    );
  });

  it('states that a reset is under way', () => {
    const words = describeSource(source(stopped('slot_lost'), { reset: { at: NOW } }), NOW);
    expect(words).toMatchObject({ reason: 'slot_lost', fix: null });
    const waits = { ...stopped('slot_lost', 'The reset waits: connection refused.'), fix: 'SELECT 1;' };
    const waiting = describeSource(source(waits, { reset: { at: NOW } }), NOW);
    expect(waiting).toMatchObject({ fix: 'SELECT 1;' });
    expect(waiting.sentence).toContain('(The reset waits: connection refused).');
    expect(words.sentence).toBe(
      'A reset was requested at 10:00:00 UTC. Carillon carries it out as soon as the database answers.',
    );
  });

  it('offers to continue only for an intact replication slot', () => {
    const starts = SOURCE_REASONS.postgres.stopped.map((reason) => [reason, resetStart(source(stopped(reason)))]);
    expect(Object.fromEntries(starts)).toEqual({
      slot_lost: 'now',
      slot_gone: 'now',
      publication_gone: 'now',
      slot_ahead: 'slot',
      other_database: 'slot',
      went_back: 'now',
    });
  });
});

describe('the text about a stopped Kafka source', () => {
  const bus = { integration: 'bus', kind: 'kafka', lagRecords: 1204 } as const;

  it('states the reason, and both commands that start again', () => {
    expect(sentence(stopped('topic_made_again', 'orders'), bus)).toBe(
      'Records were not read: a topic was deleted and made again (orders). No record after 09:12:04 UTC was read. ' +
        '`carillon sources reset bus --reason "…"` begins again at the oldest record of the topics, or with `--from end` at their end.',
    );
  });

  it('states how many records a reset reads or skips', () => {
    const span = (lagRecords: number | null) =>
      describeSpan(source(stopped('records_gone'), { ...bus, lagRecords }), NOW);
    expect(span(1204)).toBe(
      'The topics held 1204 records when the source stopped. All that they still hold will be read, the others never.',
    );
    expect(span(null)).toContain('an unknown number of records');
  });

  it('lists the partitions for the audit log', () => {
    const position: SourcePosition = {
      kind: 'kafka',
      clusterId: 'c1',
      topics: { orders: { id: 'a', partitions: { 0: 120, 1: 7 } }, later: { id: null, partitions: {} } },
      at: NOW,
    };
    const state = stopped('records_gone');
    expect(spanOnAudit({ ...bus, state, position, tables: [], start: 'end' }, NOW)).toBe(
      'read up to orders/0:120, orders/1:7 (2026-11-28T10:00:00.000Z) of the cluster c1; ' +
        'continues at the end of the topics, which held 1204 records',
    );
    expect(describeDoneReset(position, { ...position, at: 0 })).toBe(
      'read up to orders/0:120, orders/1:7 (2026-11-28T10:00:00.000Z) of the cluster c1; ' +
        'continues at orders/0:120, orders/1:7 of the cluster c1',
    );
    const wide = { orders: { id: 'a', partitions: Object.fromEntries(Array.from({ length: 200 }, (_, n) => [n, n])) } };
    expect(describeLeft({ ...position, topics: wide })).toContain('orders/19:19 and 180 more partitions');
  });
});

describe('the text about a source that waits, reads or is being removed', () => {
  it('states what it waits for, what the server answered, and what ends the wait', () => {
    const fix = 'ALTER ROLE carillon REPLICATION;';
    const state: SourceState = { kind: 'waiting', reason: 'may_not_replicate', detail: 'The role is carillon.', fix };
    expect(describeSource(source(state), NOW)).toEqual({
      state: 'waiting',
      reason: 'may_not_replicate',
      sentence: 'The role may not replicate (The role is carillon). Let an administrator of the database run this SQL.',
      fix,
    });
  });

  it('counts the tables that are not read', () => {
    const problem = { reason: 'no_table', detail: null, fix: null } as const;
    const tables = [
      { table: 'public.orders', problem: null },
      { table: 'public.people', problem },
    ];
    expect(sentence({ kind: 'running' }, { tables })).toBe(
      'Carillon reads the changes, except those of 1 of 2 tables.',
    );
    expect(sentence({ kind: 'running' })).toBe('Carillon reads the changes.');
  });

  it('states how a source that is being removed can end, with the SQL', () => {
    const words = describeSource(source({ kind: 'leaving', detail: null, fix: 'SELECT 1;' }), NOW);
    expect(words).toMatchObject({ state: 'leaving', reason: null, fix: 'SELECT 1;' });
    expect(words.sentence).toContain('`carillon sources reset shop-db --gone --reason "…"`');
  });
});

describe.each(['postgres', 'kafka'] as const)('every reason of the kind %s', (kind: SourceKind) => {
  const problem = { detail: null, fix: null };
  const reasons = SOURCE_REASONS[kind];
  const states: readonly SourceState[] = [
    ...reasons.waiting.map((reason) => ({ kind: 'waiting', reason, ...problem }) as const),
    ...reasons.stopped.map((reason) => ({ kind: 'stopped', reason, ...problem }) as const),
  ];

  it('has a sentence of its own that begins with a capital and ends with a full stop', () => {
    const sentences = [
      ...states.map((state) => sentence(state, { kind })),
      ...reasons.table.map((reason) => describeTable('public.orders', { reason, ...problem })),
    ];
    expect(new Set(sentences).size).toBe(sentences.length);
    for (const text of sentences) expect(text).toMatch(/^\p{Lu}.*\.$/u);
    if (kind === 'kafka') expect(sentences.join(' ')).not.toMatch(/database|slot|PostgreSQL/);
  });

  it('offers a reset only if the source is stopped or being removed', () => {
    for (const state of [...states, { kind: 'running' } as const, { kind: 'leaving', ...problem } as const]) {
      const isOffered = describeSpan(source(state, { kind }), NOW) !== null;
      expect(isOffered).toBe(state.kind === 'stopped' || state.kind === 'leaving');
    }
  });

  it('offers to skip unread records while a schema is missing, and in no other waiting state', () => {
    for (const state of states.filter((one) => one.kind === 'waiting')) {
      const waits = source(state, { kind, lagRecords: 3 });
      const isOffered = state.reason === 'schema_unknown';
      expect(describeSpan(waits, NOW, 'end')).toBe(
        isOffered
          ? 'The topics have 3 records that Carillon has not read. None of them will be read, only those that are written after the reset.'
          : null,
      );
      expect(describeSource(waits, NOW).sentence.includes('--from end')).toBe(isOffered);
    }
  });

  it('skips the only topic whose schema is missing, with its unread records', () => {
    const tables = [
      { table: 'orders', problem: null, lagRecords: 3 },
      { table: 'people', problem: null, lagRecords: 40 },
    ];
    const state: SourceState = { kind: 'waiting', reason: 'schema_unknown', topic: 'orders', ...problem };
    const waits = source(state, { kind, tables, lagRecords: 43 });
    expect(describeSource(waits, NOW).sentence).toContain('passes over the unread records of the topic orders.');
    expect(describeSpan(waits, NOW, 'end')).toBe(
      'The topic orders has 3 records that Carillon has not read. None of them will be read, only those that are written after the reset. Other topics are read on.',
    );
    const audit = spanOnAudit({ ...waits, kind: 'kafka', position: null, start: 'end' }, NOW);
    expect(audit).toContain('continues at the end of the topic orders, which had unread 3 records');
  });

  it('keeps the detail unchanged, whatever it is', () => {
    fc.assert(
      fc.property(fc.string({ minLength: 1 }), (text) => {
        const state: SourceState = { kind: 'waiting', reason: 'unreachable', detail: text, fix: null };
        expect(sentence(state)).toContain(text.replace(/\.$/, ''));
      }),
    );
  });

  it('states which changes of a table were not read', () => {
    const from = Date.parse('2026-11-28T09:12:04Z');
    const now = Date.parse('2026-11-28T10:00:00Z');
    expect(describeTableGap({ from, to: null }, now)).toBe('Changes since 09:12:04 UTC are not read.');
    expect(describeTableGap({ from, to: from + 60_000 }, now)).toBe(
      'Changes from 09:12:04 UTC to 09:13:04 UTC were not read.',
    );
  });
});
