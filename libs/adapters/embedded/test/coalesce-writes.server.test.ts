import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { appendJoint, packRecords } from '../src/log/packed-records.ts';
import { coalesceWrites } from '../src/writing/coalesce-writes.ts';
import type { Joint, Reply, Request } from '../src/writing/protocol.ts';

/** Adds up to one list, and answers each of its texts in capitals. */
const lists: Joint = {
  join: (all: readonly string[][]) => ({ argument: all.flat(), transfer: [] }),
  split: (value: readonly string[], all: readonly string[][]) => {
    const rest = [...value];
    return all.map((one) => rest.splice(0, one.length));
  },
};
const performed = ({ args }: Request): Reply => ({
  ok: true,
  value: (args[0] as readonly string[]).map((text) => text.toUpperCase()),
});

const write = fc.record({
  name: fc.constantFrom('joined', 'also joined', 'alone'),
  args: fc.tuple(fc.array(fc.string())),
});

describe('queued writes to the data file, some of them joined into one request,', () => {
  it('each get their own reply', () => {
    fc.assert(
      fc.property(fc.array(write), (writes) => {
        const { requests, repliesOf } = coalesceWrites(writes, { joined: lists, 'also joined': lists });
        expect(repliesOf(requests.map(performed))).toEqual(writes.map(performed));
      }),
    );
  });

  it('become one request per kind that can be joined, and one request for each other write', () => {
    const writes = ['joined', 'alone', 'joined', 'alone', 'joined'].map((name, at) => ({ name, args: [[String(at)]] }));
    expect(coalesceWrites(writes, { joined: lists }).requests).toEqual([
      { name: 'joined', args: [['0', '2', '4']] },
      { name: 'alone', args: [['1']] },
      { name: 'alone', args: [['3']] },
    ]);
  });

  it('fail together if they were joined, and alone if not', () => {
    const failed: Reply = { ok: false, failure: { code: 'overloaded', message: 'too much' } };
    const done: Reply = { ok: true, value: ['DONE'] };
    const writes = ['joined', 'alone', 'joined'].map((name) => ({ name, args: [['x']] }));
    const { repliesOf } = coalesceWrites(writes, { joined: lists });
    expect(repliesOf([failed, done])).toEqual([failed, done, failed]);
    expect(repliesOf([{ ok: true, value: ['X', 'X'] }, failed])).toEqual([
      { ok: true, value: ['X'] },
      failed,
      { ok: true, value: ['X'] },
    ]);
  });
});

describe('queued appends to the embedded log', () => {
  const record = fc.record({
    topic: fc.constant('carillon.events' as const),
    partition: fc.nat(7),
    key: fc.string(),
    value: fc.uint8Array(),
    headers: fc.dictionary(fc.string(), fc.string()),
  });

  it('are sent as one append of all records, and each gets its own offsets', () => {
    fc.assert(
      fc.property(fc.array(fc.array(record), { minLength: 1 }), (calls) => {
        const pack = (records: (typeof calls)[number]) => packRecords(records, (_topic, partition) => partition);
        const packed = calls.map(pack);
        const { argument, transfer } = appendJoint.join(packed);
        const whole = pack(calls.flat());
        expect(argument).toEqual({ ...whole, values: new Uint8Array(whole.values) });
        expect(transfer).toEqual([argument.values.buffer]);
        const offsets = calls.flat().map((_record, at) => at);
        expect(appendJoint.split(offsets, packed).flat()).toEqual(offsets);
        expect(appendJoint.split(offsets, packed).map(({ length }) => length)).toEqual(
          calls.map(({ length }) => length),
        );
      }),
    );
  });
});
