import type { NewRecord } from '@carillon/ports';
import { expect, it } from 'vitest';
import { createRecordSink } from '../src/index.ts';

const record = (at: number): NewRecord => ({
  topic: 'carillon.events',
  partition: 0,
  key: String(at),
  value: new Uint8Array([1]),
  headers: {},
});

it('the record sink appends a few hundred records at a time, in order, so that other writers do not wait for all of them', async () => {
  const appended: NewRecord[][] = [];
  const sink = createRecordSink({
    async append(records) {
      appended.push([...records]);
      return records.map((_, at) => at);
    },
  });
  const records = Array.from({ length: 1_250 }, (_, at) => record(at));
  await sink.write(records);
  expect(appended.map(({ length }) => length)).toEqual([500, 500, 250]);
  expect(appended.flat()).toEqual(records);
});
