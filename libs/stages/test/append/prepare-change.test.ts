import { readDebezium, type Change, type ReadChange } from '@carillon/domain/changes';
import type { EventStream, SourceStream } from '@carillon/domain/configuration';
import { evaluateRule } from '@carillon/domain/rules';
import type { EventId, Json, JsonObject, LogId } from '@carillon/kernel';
import { givenRule } from '@carillon/testing/given';
import { openTopology, type Topology } from '@carillon/testing/topology';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { prepareChange, readSourceRecord, type PreparedChange } from '../../src/index.ts';

const LOG = 'log_1' as LogId;
const AT = '2026-11-28T06:30:00.123456Z';

let topology: Topology;
beforeAll(async () => {
  topology = await openTopology({ partitions: 8 });
});
afterAll(() => topology.close());

const ORDERS = 'public.orders';
const streamOf = (name: string, more: Partial<EventStream> = {}): EventStream => ({
  path: `shop/${name}`,
  workspace: 'shop',
  key: null,
  time: null,
  format: 'json',
  security: {},
  from: { integration: 'shop-db', tables: { [ORDERS]: 'event.id' } },
  ...more,
});
const reading = (name: string, without: readonly string[] = [], more: Partial<EventStream> = {}): SourceStream => ({
  stream: streamOf(name, more),
  tables: [{ table: ORDERS, key: 'event.id', without }],
  topics: [],
});
const changeOf = (more: Partial<Change> = {}): Change => ({
  op: 'update',
  event: { id: 1, status: 'paid', card: '4111' },
  previous: { id: 1, status: 'open', card: '4111' },
  unknown: ['notes', 'card'],
  source: { integration: 'shop-db', table: ORDERS, tx: 728, position: '0/1948580:3', at: AT },
  ...more,
});
const read = (change: Change, ...identity: string[]): ReadChange => ({ change, identity });
const prepare = (change: ReadChange, ...streams: SourceStream[]) => prepareChange(change, streams, topology.ports);
function eventOf({ record }: Pick<PreparedChange, 'record'>) {
  const source = readSourceRecord({ ...record, offset: 7, time: 1000 }, LOG);
  if (!source.ok || source.value.kind !== 'event') throw new Error('not an event');
  return source.value.event;
}

describe('prepareChange (makes log records of a database change)', () => {
  it('makes a record for each stream that names the table', () => {
    const other: SourceStream = {
      ...reading('stock'),
      tables: [{ table: 'public.stock', key: 'event.id', without: [] }],
    };
    const prepared = prepare(read(changeOf(), 'a'), reading('orders'), reading('ledger'), other);
    expect(prepared.map(({ record, result }) => [record.headers['stream'], result])).toEqual([
      ['shop/orders', 'appended'],
      ['shop/ledger', 'appended'],
    ]);
    expect(prepared.map((one) => eventOf(one))).toMatchObject(
      ['shop/orders', 'shop/ledger'].map((stream) => ({
        workspace: 'shop',
        stream,
        key: '1',
        change: changeOf(),
        time: Date.parse(AT),
      })),
    );
    expect(prepared[0]?.record.headers).toMatchObject({ shape: 'change', principal: 'source:shop-db' });
  });

  it('derives the id from stream and identity', () => {
    const idOf = (stream: string, ...identity: string[]): EventId | undefined => {
      const [first] = prepare(read(changeOf(), ...identity), reading(stream));
      return first && eventOf(first).id;
    };
    expect(idOf('orders', 'a', 'b')).toBe(idOf('orders', 'a', 'b'));
    expect(new Set([idOf('orders', 'a', 'b'), idOf('orders', 'ab'), idOf('ledger', 'a', 'b')]).size).toBe(3);
  });

  it('removes the columns that the stream leaves out from the row, the previous row and the list of unknown values', () => {
    const [first] = prepare(read(changeOf(), 'a'), reading('orders', ['card']));
    expect(first && new TextDecoder().decode(first.record.value)).not.toContain('card');
    expect(first && eventOf(first).change).toMatchObject({
      event: { id: 1, status: 'paid' },
      previous: { id: 1, status: 'open' },
      unknown: ['notes'],
    });
  });

  it.each([[{ status: 'new' }], [{ id: null }], [{ id: '' }], [{ id: ['a'] }], [{ id: 'x'.repeat(1025) }]])(
    'counts a change without a key as skipped: %j',
    (event) => {
      const [first] = prepare(read(changeOf({ op: 'create', event, previous: null }), 'a'), reading('orders'));
      expect(first?.result).toBe('without_key');
      expect(first && eventOf(first).key).toBeNull();
    },
  );

  it('takes the time of the event from the time path of the stream, else the commit time', () => {
    const timeOf = (event: Change['event']): number | undefined => {
      const stream = reading('orders', [], { time: 'event.at' });
      const [first] = prepare(read(changeOf({ op: 'create', event, previous: null }), 'a'), stream);
      return first && eventOf(first).time;
    };
    expect(timeOf({ id: 1, at: '2026-01-01T00:00:00Z' })).toBe(Date.parse('2026-01-01T00:00:00Z'));
    expect(timeOf({ id: 1, at: 'yesterday' })).toBe(Date.parse(AT));
  });

  it('makes a dead letter of a change that is larger than 1 MiB', () => {
    const notes = 'x'.repeat(65_000);
    const event = Object.fromEntries(Array.from({ length: 17 }, (_, at) => [`notes_${at}`, notes]));
    const [first] = prepare(read(changeOf({ event: { id: 1, ...event } }), 'a'), reading('orders'));
    expect(first?.result).toBe('dead_letter');
    const letter = first && topology.ports.codecs.deadLetter.decode(first.record.value);
    expect(letter).toMatchObject({
      ok: true,
      value: {
        stage: 'append',
        workspace: 'shop',
        reason: 'change_too_large',
      },
    });
    expect(letter?.ok && letter.value.detail).toContain('0/1948580:3');
  });

  const manyNames = (count: number) => ({
    id: 1,
    list: Object.fromEntries(Array.from({ length: count }, (_, at) => [`n${at}`, 0])),
  });
  /** `op`, `event`, `previous`, `unknown`, `source` and its five names, `id` and `list`. */
  const OWN_NAMES = 12;
  const levels = (count: number) => ({ id: 1, list: JSON.parse('['.repeat(count) + ']'.repeat(count)) as Json });
  const created = (event: Change['event']) =>
    prepare(read(changeOf({ op: 'create', event, previous: null }), 'a'), reading('orders'))[0];

  it.each([
    ['change_too_many_names', manyNames(20_001 - OWN_NAMES)],
    ['change_too_deep', levels(31)],
  ])('makes a dead letter with the reason %s of a change that the engine would refuse', (reason, event) => {
    const first = created(event);
    expect(first?.result).toBe('dead_letter');
    expect(first && topology.ports.codecs.deadLetter.decode(first.record.value)).toMatchObject({
      ok: true,
      value: { stage: 'append', reason },
    });
  });

  it.each([
    ['20,000 names', manyNames(20_000 - OWN_NAMES)],
    ['32 levels', levels(30)],
  ])('appends a change with %s', (_, event) => {
    const first = created(event);
    expect(first?.result).toBe('appended');
    expect(first && eventOf(first).body).toEqual(event);
  });

  it('leaves out columns whose names are forbidden in events, such as __proto__, and lists them as unknown', () => {
    const row = (status: string) =>
      JSON.parse(`{"id":1,"status":"${status}","constructor":1,"__proto__":2}`) as JsonObject;
    const change = changeOf({ event: row('paid'), previous: row('open'), unknown: ['notes'] });
    const [first] = prepare(read(change, 'a'), reading('orders', ['__proto__']));
    const [both] = prepare(read(change, 'a'), reading('orders'));
    expect(first && eventOf(first).change?.unknown).toEqual(['notes', 'constructor']);
    expect(both && eventOf(both).change).toEqual({
      ...change,
      event: { id: 1, status: 'paid' },
      previous: { id: 1, status: 'open' },
      unknown: ['notes', '__proto__', 'constructor'],
    });
    if (!both) throw new Error('the change has a record');
    const run = (when: string) =>
      evaluateRule(
        givenRule({ to: { email: '"a@example.com"' }, unique_id: 'event_id' }, { when }),
        eventOf(both),
        () => 'trg_1',
      );
    expect(run('event.constructor == 1')).toMatchObject({ kind: 'failed', reason: 'field_unknown' });
    expect(run('changed(event["__proto__"])')).toMatchObject({ kind: 'failed', reason: 'field_unknown' });
    expect(run('changedTo(event.status, "paid")')).toMatchObject({ kind: 'fired' });
  });

  it('leaves out forbidden column names of a Debezium message too, and lists them as unknown', () => {
    const source = '{"name":"app","schema":"public","table":"orders","ts_ms":1795226637186,"lsn":7}';
    const after = '{"id":1,"constructor":2,"__proto__":{"a":1},"meta":{"constructor":3}}';
    const value = new TextEncoder().encode(`{"op":"c","before":null,"after":${after},"source":${source}}`);
    const envelope = readDebezium({ key: null, value }, 'shop-db');
    if (envelope.kind !== 'change') throw new Error('no change');
    const [first] = prepare(envelope.read, reading('orders'));
    expect(first?.result).toBe('appended');
    expect(first && eventOf(first).change).toMatchObject({
      event: { id: 1, meta: '{"constructor":3}' },
      unknown: ['__proto__', 'constructor'],
    });
  });
});
