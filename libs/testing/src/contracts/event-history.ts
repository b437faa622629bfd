import type { EventHistory, EventLog, HistoryPage } from '@carillon/ports';
import { describe, expect, it } from 'vitest';
import { logRecord } from './event-log.ts';
import { freshFor, type UnderTest } from './under-test.ts';

/** A log, and the history that another process would read beside its writer. */
export type LogAndHistory = { readonly log: EventLog; readonly history: Omit<EventHistory, 'registry'> };

const TOPIC = 'carillon.events';
const texts = ({ records }: HistoryPage): readonly string[] =>
  records.map(({ value }) => new TextDecoder().decode(value));

/** The contract of every event history. */
export function describeEventHistory(name: string, make: () => Promise<UnderTest<LogAndHistory>>): void {
  describe(`${name} keeps the contract of an event history`, () => {
    const { port } = freshFor(make);

    /** Appends these texts to a partition. Returns the offset of the first one. */
    async function append(values: readonly string[], partition: number): Promise<number> {
      const [first] = await port().log.append(values.map((value) => logRecord(value, { partition })));
      return first ?? 0;
    }
    async function pagesOf(partition: number, from: number, end: number, size: number) {
      const pages: HistoryPage[] = [];
      for await (const page of port().history.pages({ topic: TOPIC, partition, from, end }, size)) pages.push(page);
      return pages;
    }

    it('reads a range in pages, in order, and nothing beyond its end', async () => {
      const values = Array.from({ length: 10 }, (_, index) => `record ${index}`);
      const first = await append(values, 2);
      const pages = await pagesOf(2, first + 1, first + 9, 3);
      expect(pages.map(texts)).toEqual([values.slice(1, 4), values.slice(4, 7), values.slice(7, 9)]);
      expect(pages.map(({ next, removed }) => [next - first, removed])).toEqual([
        [4, 0],
        [7, 0],
        [9, 0],
      ]);
      expect(pages[0]?.records[0]).toMatchObject({ topic: TOPIC, partition: 2, offset: first + 1 });
      expect(await pagesOf(2, first + 9, first + 9, 3)).toEqual([]);
    });

    it('counts the records that were removed from the start of a range', async () => {
      const values = Array.from({ length: 10 }, (_, index) => `record ${index}`);
      const first = await append(values, 3);
      await port().log.cut(TOPIC, 3, first + 4);
      const pages = await pagesOf(3, first + 1, first + 10, 100);
      expect(pages.flatMap(texts)).toEqual(values.slice(4));
      expect(pages.reduce((sum, { removed }) => sum + removed, 0)).toBe(3);
      expect(pages.at(-1)?.next).toBe(first + 10);
    });

    it('counts all records of a range that is gone', async () => {
      const first = await append(['a', 'b', 'c', 'd'], 4);
      await port().log.cut(TOPIC, 4, first + 3);
      const pages = await pagesOf(4, first, first + 2, 100);
      expect(pages).toEqual([{ records: [], next: first + 2, removed: 2 }]);
    });
  });
}
