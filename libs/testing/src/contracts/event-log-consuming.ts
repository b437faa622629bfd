import type { ConsumeOptions, EventLog, LogRecord } from '@carillon/ports';
import { describe, expect, it } from 'vitest';
import { freshFor, freshName, type UnderTest } from './under-test.ts';
import { createGate, createWitness, type Witness } from './witness.ts';

/** Calls that a consumer received, in order. */
type Told =
  | {
      readonly told: 'assigned' | 'lost' | 'failed' | 'stopped' | 'left';
      readonly by: string;
      readonly partition: number;
    }
  | { readonly told: 'record'; readonly by: string; readonly partition: number; readonly value: string };

type Handling = {
  /** Where each assignment starts; the end of the partition at the time unless set. */
  readonly from?: (partition: number) => number;
  readonly handle?: (values: readonly string[], partition: number, end: number) => Promise<void>;
};

/** How consumers share, repeat and give back partitions. */
export function describeConsuming(name: string, make: () => Promise<UnderTest<EventLog>>): void {
  describe(`${name} keeps the contract of consuming a log`, () => {
    const { port: log } = freshFor(make);

    const append = (value: string, partition = 0): Promise<readonly number[]> => {
      const record = { topic: 'carillon.events', partition, key: 'k', headers: {} } as const;
      return log().append([{ ...record, value: new TextEncoder().encode(value) }]);
    };
    const ends = async (): Promise<readonly number[]> => {
      const partitions = Array.from({ length: log().partitions('carillon.events') }, (_, at) => at);
      return Promise.all(partitions.map(async (at) => (await log().bounds('carillon.events', at)).end));
    };
    const consume = (
      group: string,
      by: string,
      witness: Witness<Told>,
      starts: readonly number[],
      how: Handling = {},
    ) => {
      const options: ConsumeOptions = {
        group,
        topic: 'carillon.events',
        maxRecords: 10,
        maxBytes: 1_000_000,
        async assigned(partition) {
          witness.saw({ told: 'assigned', by, partition });
          return {
            from: how.from?.(partition) ?? starts[partition] ?? 0,
            async handle(records: readonly LogRecord[], end: () => number) {
              const values = records.map((record) => new TextDecoder().decode(record.value));
              await how.handle?.(values, partition, end());
              for (const value of values) witness.saw({ told: 'record', by, partition, value });
            },
            async lost() {
              witness.saw({ told: 'lost', by, partition });
            },
          };
        },
        failed: (partition) => witness.saw({ told: 'failed', by, partition }),
        stopped(partition) {
          witness.saw({ told: 'stopped', by, partition });
          return () => witness.saw({ told: 'left', by, partition });
        },
      };
      return log().consume(options);
    };
    const values = (seen: readonly Told[], partition = 0): readonly string[] =>
      seen.flatMap((told) => (told.told === 'record' && told.partition === partition ? [told.value] : []));
    const owners = (seen: readonly Told[]): ReadonlyMap<number, string> => {
      const held = new Map<number, string>();
      for (const told of seen) {
        if (told.told === 'assigned') {
          // Two owners at once would be two workers on one state.
          expect(held.get(told.partition)).toBeUndefined();
          held.set(told.partition, told.by);
        }
        if (told.told === 'lost') held.delete(told.partition);
      }
      return held;
    };
    const count = (seen: readonly Told[], what: Told['told'], by?: string): number =>
      seen.filter((told) => told.told === what && (by === undefined || told.by === by)).length;

    it('hands over what was there and what comes, in order of offset', async () => {
      const starts = await ends();
      const witness = createWitness<Told>();
      await append('one');
      await append('two');
      const consumption = await consume(freshName('order'), 'a', witness, starts);
      await witness.until('both were handed over', (seen) => values(seen).length === 2);
      await append('three');
      await witness.until('the third came', (seen) => values(seen).length === 3);
      await consumption.stop();
      expect(values(witness.seen)).toEqual(['one', 'two', 'three']);
    });

    it('tells with the records where the partition ended when they were read', async () => {
      const starts = await ends();
      for (let at = 0; at < 12; at += 1) await append(String(at));
      const witness = createWitness<Told>();
      const told: number[] = [];
      const consumption = await consume(freshName('ends'), 'a', witness, starts, {
        handle: async (_values, _partition, end) => void told.push(end),
      });
      await witness.until('all were handed over', (seen) => values(seen).length === 12);
      await consumption.stop();
      // The first batch is of ten at most: two wait behind it.
      expect(new Set(told)).toEqual(new Set([(starts[0] ?? 0) + 12]));
    });

    it('makes one call at a time per partition, with at least one record', async () => {
      const starts = await ends();
      const witness = createWitness<Told>();
      let atOnce = 0;
      let most = 0;
      const consumption = await consume(freshName('one-at-a-time'), 'a', witness, starts, {
        async handle(batch) {
          expect(batch.length).toBeGreaterThan(0);
          atOnce += 1;
          most = Math.max(most, atOnce);
          await new Promise((resolve) => setImmediate(resolve));
          atOnce -= 1;
        },
      });
      await Promise.all(Array.from({ length: 50 }, (_, at) => append(String(at))));
      await witness.until('all were handed over', (seen) => values(seen).length === 50);
      await consumption.stop();
      expect(most).toBe(1);
      expect(count(witness.seen, 'failed')).toBe(0);
    });

    it('begins again where the new worker says, after telling of a rejection and of the loss', async () => {
      const starts = await ends();
      const witness = createWitness<Told>();
      let tries = 0;
      const consumption = await consume(freshName('again'), 'a', witness, starts, {
        async handle() {
          tries += 1;
          if (tries < 3) throw new Error('not now');
        },
      });
      await append('stubborn');
      await witness.until('it was handled', (seen) => values(seen).length === 1);
      await consumption.stop();
      expect(tries).toBe(3);
      const story = witness.seen.filter((told) => told.partition === 0).map((told) => told.told);
      const again = ['failed', 'lost', 'assigned'];
      expect(story).toEqual(['assigned', ...again, ...again, 'record', 'lost']);
    });

    it('goes on with the other partitions while one fails', async () => {
      const starts = await ends();
      const witness = createWitness<Told>();
      const consumption = await consume(freshName('apart'), 'a', witness, starts, {
        async handle(_values, partition) {
          if (partition === 0) throw new Error('poisoned');
        },
      });
      await append('poison');
      await append('fine', 1);
      await witness.until('the other partition went on', (seen) => values(seen, 1).length === 1);
      await consumption.stop();
      expect(values(witness.seen, 0)).toEqual([]);
    });

    it('tells of a worker that cannot be made, and tries again', async () => {
      const starts = await ends();
      const witness = createWitness<Told>();
      let refusals = 0;
      const consumption = await consume(freshName('unmade'), 'a', witness, starts, {
        from(partition) {
          if (partition === 0 && refusals < 1) {
            refusals += 1;
            throw new Error('the store is away');
          }
          return starts[partition] ?? 0;
        },
      });
      await append('patient');
      await witness.until('it was handled', (seen) => values(seen).length === 1);
      await consumption.stop();
      expect(count(witness.seen, 'failed')).toBe(1);
    });

    it('stands still where a start is beyond the end, also once the log has grown to it, and says so while it does', async () => {
      const starts = await ends();
      const witness = createWitness<Told>();
      const consumption = await consume(freshName('beyond'), 'a', witness, starts, {
        from: (partition) => (starts[partition] ?? 0) + (partition === 0 ? 1 : 0),
      });
      await witness.until('it was refused', (seen) => count(seen, 'failed') > 0);
      await append('of another log');
      await append('of another log too');
      // Ten times the pause after which anything else would have been tried again.
      const until = Date.now() + 1000;
      for (let round = 1; Date.now() < until; round += 1) {
        await append(`${round}`, 1);
        await witness.until('others went on', (seen) => values(seen, 1).length === round);
      }
      const standing = witness.seen.filter(({ told }) => told === 'stopped' || told === 'left');
      expect(standing).toEqual([{ told: 'stopped', by: 'a', partition: 0 }]);
      await consumption.stop();
      expect(count(witness.seen, 'left')).toBe(1);
      expect(values(witness.seen, 0)).toEqual([]);
      expect(count(witness.seen, 'failed')).toBe(1);
    });

    it('shares the partitions of a group: each has one owner, and who joins gets some', async () => {
      const starts = await ends();
      const witness = createWitness<Told>();
      const group = freshName('shared');
      const first = await consume(group, 'a', witness, starts);
      await witness.until('the first has all', (seen) => owners(seen).size === starts.length);
      const second = await consume(group, 'b', witness, starts);
      await witness.until('the second has some and all are owned', (seen) => {
        const held = owners(seen);
        return held.size === starts.length && [...held.values()].includes('b') && [...held.values()].includes('a');
      });
      await Promise.all(starts.map((_, partition) => append(`to ${partition}`, partition)));
      await witness.until('each partition was handled', (seen) => count(seen, 'record') === starts.length);
      const held = owners(witness.seen);
      for (const told of witness.seen) if (told.told === 'record') expect(told.by).toBe(held.get(told.partition));
      await Promise.all([first.stop(), second.stop()]);
      expect(owners(witness.seen).size).toBe(0);
    });

    it('gives the partitions of one that leaves to those that stay', async () => {
      const starts = await ends();
      const witness = createWitness<Told>();
      const group = freshName('leaving');
      const first = await consume(group, 'a', witness, starts);
      const second = await consume(group, 'b', witness, starts);
      await witness.until('both have some', (seen) => new Set(owners(seen).values()).size === 2);
      await first.stop();
      await witness.until('the second has all', (seen) => {
        const held = [...owners(seen).values()];
        return held.length === starts.length && held.every((by) => by === 'b');
      });
      await second.stop();
    });

    it('lets a handler finish before its partition has another owner', async () => {
      const starts = await ends();
      const witness = createWitness<Told>();
      const group = freshName('finish');
      const [begun, gate] = [createGate(), createGate()];
      const first = await consume(group, 'a', witness, starts, {
        async handle() {
          begun.open();
          await gate.opened;
        },
      });
      await append('slow');
      await begun.opened;
      const stopped = first.stop();
      const second = await consume(group, 'b', witness, starts, { from: (partition) => starts[partition] ?? 0 });
      await witness.until('the second has the others', (seen) => owners(seen).size >= starts.length);
      expect(owners(witness.seen).get(0)).toBe('a');
      gate.open();
      await stopped;
      await witness.until('the second has it too', (seen) => owners(seen).get(0) === 'b');
      await second.stop();
    });

    it('gives every group everything', async () => {
      const starts = await ends();
      const [one, two] = [createWitness<Told>(), createWitness<Told>()];
      const first = await consume(freshName('one'), 'a', one, starts);
      const second = await consume(freshName('two'), 'b', two, starts);
      await append('for all');
      await one.until('the first group got it', (seen) => values(seen).length === 1);
      await two.until('the second group got it', (seen) => values(seen).length === 1);
      await Promise.all([first.stop(), second.stop()]);
    });

    it('stops after the handler under way, once, however often it is asked', async () => {
      const starts = await ends();
      const witness = createWitness<Told>();
      const [begun, gate] = [createGate(), createGate()];
      const consumption = await consume(freshName('stop'), 'a', witness, starts, {
        async handle() {
          begun.open();
          await gate.opened;
        },
      });
      await append('last');
      await begun.opened;
      let stopped = false;
      const stopping = Promise.all([consumption.stop(), consumption.stop()]).then(() => (stopped = true));
      await witness.until('the idle ones are lost', (seen) => count(seen, 'lost') === starts.length - 1);
      expect(stopped).toBe(false);
      gate.open();
      await stopping;
      const told = witness.seen.length;
      expect(count(witness.seen, 'lost')).toBe(starts.length);
      expect(values(witness.seen)).toEqual(['last']);
      await append('too late');
      await log().read('carillon.events', 0, 0, 1);
      expect(witness.seen.length).toBe(told);
    });
  });
}
