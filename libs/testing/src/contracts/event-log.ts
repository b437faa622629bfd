import { isCarillonError } from '@carillon/kernel';
import type { EventLog, NewRecord } from '@carillon/ports';
import { describe, expect, it } from 'vitest';
import { describeConsuming } from './event-log-consuming.ts';
import { freshFor, type UnderTest } from './under-test.ts';

const text = (value: Uint8Array): string => new TextDecoder().decode(value);

export const logRecord = (value: string, more: Partial<NewRecord> = {}): NewRecord => ({
  topic: 'carillon.events',
  partition: 0,
  key: 'k',
  value: new TextEncoder().encode(value),
  headers: {},
  ...more,
});

/** What every event log promises. Consuming has a suite of its own, run from here too. */
export function describeEventLog(name: string, make: () => Promise<UnderTest<EventLog>>): void {
  describe(`${name} keeps the contract of an event log`, () => {
    const { port: log, faults } = freshFor(make);
    const end = async (partition = 0): Promise<number> => (await log().bounds('carillon.events', partition)).end;
    const readFrom = async (from: number, partition = 0): Promise<readonly string[]> =>
      (await log().read('carillon.events', partition, from, 10_000, 64_000_000)).map((record) => text(record.value));

    it('gives back bytes, key, headers, place and time as they were appended', async () => {
      const value = Uint8Array.from({ length: 256 }, (_, at) => at);
      const headers = { event_id: 'evt_1', traceparent: '00-ab-cd-01', note: 'Grüße, 世界' };
      const [offset] = await log().append([logRecord('', { partition: 1, key: 'order/7', value, headers })]);
      expect(offset).toBeTypeOf('number');
      const [record, ...more] = await log().read('carillon.events', 1, offset ?? 0, 10);
      expect(more).toEqual([]);
      expect(record).toMatchObject({ topic: 'carillon.events', partition: 1, key: 'order/7', offset, headers });
      expect(new Uint8Array(record?.value ?? [])).toEqual(value);
      expect(Number.isSafeInteger(record?.time)).toBe(true);
      const again = await log().read('carillon.events', 1, offset ?? 0, 1);
      expect(again[0]?.time).toBe(record?.time);
    });

    it('answers offsets in the order given, one after another within each partition', async () => {
      const [first, second] = [await end(0), await end(1)];
      const offsets = await log().append([
        logRecord('a'),
        logRecord('b', { partition: 1 }),
        logRecord('c'),
        logRecord('d', { partition: 1 }),
      ]);
      expect(offsets).toEqual([first, second, first + 1, second + 1]);
      expect(await readFrom(first)).toEqual(['a', 'c']);
      expect(await readFrom(second, 1)).toEqual(['b', 'd']);
    });

    it('keeps the order of each call among many that append at once', async () => {
      const from = await end();
      const calls = Array.from({ length: 40 }, (_, call) =>
        log().append(Array.from({ length: 5 }, (_record, at) => logRecord(`${call}:${at}`))),
      );
      const offsets = await Promise.all(calls);
      const values = await readFrom(from);
      expect(values).toHaveLength(200);
      for (const [call, own] of offsets.entries()) {
        expect(own).toEqual([...own].toSorted((a, b) => a - b));
        expect(own.map((offset) => values[offset - from])).toEqual([0, 1, 2, 3, 4].map((at) => `${call}:${at}`));
      }
    });

    it('is done at once with an empty batch', async () => {
      const before = await end();
      expect(await log().append([])).toEqual([]);
      expect(await end()).toBe(before);
    });

    it('is not touched by what the caller does to its bytes later', async () => {
      const from = await end();
      const value = new TextEncoder().encode('before');
      const appended = log().append([logRecord('', { value })]);
      value.fill(0);
      await appended;
      expect(await readFrom(from)).toEqual(['before']);
    });

    it('takes a record of 900 kB beside small ones, and empty ones', async () => {
      const from = await end();
      await log().append([logRecord('small'), logRecord('x'.repeat(900_000)), logRecord('')]);
      expect((await readFrom(from)).map((value) => value.length)).toEqual([5, 900_000, 0]);
    });

    it('reads at most as many records as asked, and about as many bytes, but at least one', async () => {
      const from = await end();
      await log().append(['a', 'b', 'c'].map((letter) => logRecord(letter.repeat(1000))));
      expect(await log().read('carillon.events', 0, from, 2)).toHaveLength(2);
      expect(await log().read('carillon.events', 0, from, 10, 1)).toHaveLength(1);
      expect((await log().read('carillon.events', 0, from, 10, 2500)).length).toBeLessThan(3);
    });

    it('reads nothing at its end or beyond it', async () => {
      await log().append([logRecord('last')]);
      const last = await end();
      expect(await log().read('carillon.events', 0, last, 10)).toEqual([]);
      expect(await log().read('carillon.events', 0, last + 1000, 10)).toEqual([]);
    });

    it('reads from its start when asked for what lies before it', async () => {
      await log().append([logRecord('any')]);
      const { start } = await log().bounds('carillon.events', 0);
      const [record] = await log().read('carillon.events', 0, 0, 1);
      expect(record?.offset).toBe(start);
    });

    it('tells its bounds: the end is the offset of the next record', async () => {
      const before = await log().bounds('carillon.events', 0);
      const [offset] = await log().append([logRecord('next')]);
      expect(offset).toBe(before.end);
      expect(await log().bounds('carillon.events', 0)).toEqual({ start: before.start, end: before.end + 1 });
    });

    it('is cut before an offset: the start moves there, and everything behind it stays where it is', async () => {
      const appended = await log().append(
        Array.from({ length: 5 }, (_, at) => logRecord(`cut ${at}`, { topic: 'carillon.audit' })),
      );
      const [first = 0, , third = 0, , last = 0] = appended;
      await log().cut('carillon.audit', 0, third);
      expect(await log().bounds('carillon.audit', 0)).toEqual({ start: third, end: last + 1 });
      const left = await log().read('carillon.audit', 0, first, 10);
      expect(left.map(({ offset }) => offset)).toEqual(appended.slice(2));
      // Deleted records stay deleted, and a cut never passes the end.
      await log().cut('carillon.audit', 0, first);
      expect((await log().bounds('carillon.audit', 0)).start).toBe(third);
      await log().cut('carillon.audit', 0, last + 1000);
      expect(await log().bounds('carillon.audit', 0)).toEqual({ start: last + 1, end: last + 1 });
      expect(await log().append([logRecord('next', { topic: 'carillon.audit' })])).toEqual([last + 1]);
    });

    it('keeps topics and partitions apart', async () => {
      const config = (await log().bounds('carillon.config', 0)).end;
      const other = await end(1);
      await log().append([logRecord('event')]);
      expect((await log().bounds('carillon.config', 0)).end).toBe(config);
      expect(await end(1)).toBe(other);
    });

    it('has one partition of configuration, so that its positions are numbers', () => {
      expect(log().partitions('carillon.config')).toBe(1);
      expect(log().partitions('carillon.events')).toBeGreaterThan(1);
      expect(log().logId).toMatch(/^log_[0-9A-HJKMNP-TV-Z]{26}$/);
    });

    it('refuses a partition that it does not have', async () => {
      const beyond = log().partitions('carillon.events');
      await expect(log().append([logRecord('lost', { partition: beyond })])).rejects.toThrow();
    });

    it('refuses while it cannot write, with a code that says so, and goes on when it can', async ({ skip }) => {
      const broken = faults();
      if (!broken) return skip('this adapter has no faults to inject');
      const from = await end();
      await log().append([logRecord('before')]);
      await broken.breakWrites();
      const refused = await log()
        .append([logRecord('during')])
        .catch((error: unknown) => error);
      expect(isCarillonError(refused) && refused.code).toBe('log_unavailable');
      await broken.mendWrites();
      const offsets = await log().append([logRecord('after')]);
      const values = await readFrom(from);
      expect(values[0]).toBe('before');
      expect(values.at(-1)).toBe('after');
      expect(offsets).toEqual([from + values.length - 1]);
    });
  });

  describeConsuming(name, make);
}
