import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { openHistory } from '@carillon/adapter-embedded';
import type { LogId } from '@carillon/kernel';
import { createCorpus } from '../corpus.ts';
import { DATABASE_FILE, folderWithEvents } from '../filled-folders.ts';
import type { BenchCase, Side } from '../harness/bench.ts';
import { shared } from '../started-once.ts';
import { comparing, COMPARES } from './comparing-side.ts';
import { EVENTS, isAdded } from './edited-rules.ts';

const PAGE_RECORDS = 500;
const READS = 'reads the pages';
const PLACES_OF_PARTITION = 2 ** 40;
const log = shared(
  () => folderWithEvents(EVENTS),
  (folder) => folder.remove(),
);

/** Selects the same pages from the data file and looks at nothing but the position of the last record. */
const reads: Side = {
  name: READS,
  syncs: 'nothing',
  async open() {
    const folder = await log.take();
    const db = new DatabaseSync(join(folder.path, DATABASE_FILE), { readOnly: true });
    const partitions = db.prepare("SELECT id FROM partitions WHERE topic = 'carillon.events'").all();
    const page = db.prepare(
      'SELECT place, time, key, headers, value FROM records WHERE place >= ? AND place < ? ORDER BY place LIMIT ?',
    );
    page.setReturnArrays(true);
    const counts = new Set<number>();
    return {
      async round() {
        const begun = performance.now();
        let done = 0;
        for (const { id } of partitions) {
          const first = Number(id) * PLACES_OF_PARTITION;
          const end = first + PLACES_OF_PARTITION;
          for (let next = first; next < end;) {
            const rows = page.all(next, end, PAGE_RECORDS) as unknown as readonly (readonly [number])[];
            next = (rows.at(-1)?.[0] ?? end) + 1;
            done += rows.length;
          }
        }
        counts.add(done);
        return { done, seconds: (performance.now() - begun) / 1_000 };
      },
      verify: async () => [...counts].filter((count) => count < EVENTS).map((count) => `it read ${count} records`),
      async close() {
        db.close();
        await log.release();
      },
    };
  },
};

const compares = comparing(async () => {
  const { path } = await log.take();
  const db = new DatabaseSync(join(path, DATABASE_FILE), { readOnly: true });
  const logId = db.prepare('SELECT log_id FROM log_identity').get()?.['log_id'] as LogId;
  db.close();
  const history = openHistory(path, logId);
  const corpus = createCorpus();
  let added = 0;
  for (let event = 0; event < EVENTS; event += 1) if (isAdded(corpus.next())) added += 1;
  return {
    history,
    events: EVENTS,
    added,
    async release() {
      history.close();
      await log.release();
    },
  };
});

export const comparingBesideReading: BenchCase = {
  title: 'one edited rule of ten, embedded',
  counted: 'events',
  sides: [compares, reads],
  comparisons: [
    { side: COMPARES, to: READS, measure: 'rate', wanted: 'at least', floor: 0.13, goal: 0.24 },
    { side: COMPARES, to: READS, measure: 'cpu', wanted: 'at most' },
  ],
};
