import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { createExpressionLanguage } from '@carillon/adapter-cel';
import { openHistory, openScratchFile, removeScratchFile } from '@carillon/adapter-embedded';
import { createTemplateRenderer } from '@carillon/adapter-handlebars';
import { createIds } from '@carillon/adapter-system';
import { createRecordCodecs } from '@carillon/contracts';
import { OWNER_ACTOR } from '@carillon/domain/people';
import { compileRule } from '@carillon/domain/rules';
import type { CompareRun } from '@carillon/domain/runs';
import type { JobId, LogId, RunId } from '@carillon/kernel';
import { createRuleBook, narrowRuleBook } from '@carillon/stages';
import { compareHistory } from '../../../apps/cli/src/replay/compare-history.ts';
import { createPace } from '../../../apps/cli/src/replay/pace.ts';
import { createCorpus } from '../corpus.ts';
import { DATABASE_FILE, folderWithEvents } from '../filled-folders.ts';
import type { BenchCase, Side } from '../harness/bench.ts';
import { shared } from '../started-once.ts';
import { EDITED_NAME, editedConfigurations, EVENTS, isAdded } from './edited-rules.ts';

const PAGE_RECORDS = 500;
const SYNCS = 'nothing';
const log = shared(
  () => folderWithEvents(EVENTS),
  (folder) => folder.remove(),
);

/** A partition of `carillon.events` in the data file. Its records have a place from `from` on and below `to`. */
type Partition = { readonly from: number; readonly to: number };
type LogFacts = { readonly logId: LogId; readonly partitions: readonly Partition[] };
const PLACES_OF_PARTITION = 2 ** 40;

function factsOf(db: DatabaseSync): LogFacts {
  const rows = db.prepare("SELECT id, next FROM partitions WHERE topic = 'carillon.events' ORDER BY partition").all();
  return {
    logId: db.prepare('SELECT log_id FROM log_identity').get()?.['log_id'] as LogId,
    partitions: rows.map(({ id, next }) => {
      const from = Number(id) * PLACES_OF_PARTITION;
      return { from, to: from + Number(next) };
    }),
  };
}

const [COMPARES, READS] = ['carillon compares', 'reads the pages'];

/** Selects the same pages from the data file and looks at nothing but the position of the last record. */
const reads: Side = {
  name: READS,
  syncs: SYNCS,
  async open() {
    const folder = await log.take();
    const db = new DatabaseSync(join(folder.path, DATABASE_FILE), { readOnly: true });
    const { partitions } = factsOf(db);
    const page = db.prepare(
      'SELECT place, time, key, headers, value FROM records WHERE place >= ? AND place < ? ORDER BY place LIMIT ?',
    );
    page.setReturnArrays(true);
    const counts = new Set<number>();
    return {
      async round() {
        const begun = performance.now();
        let done = 0;
        for (const { from, to } of partitions) {
          for (let next = from; next < to;) {
            const rows = page.all(next, to, PAGE_RECORDS) as unknown as readonly (readonly [number])[];
            next = (rows.at(-1)?.[0] ?? to) + 1;
            done += rows.length;
          }
        }
        counts.add(done);
        return { done, seconds: (performance.now() - begun) / 1000 };
      },
      verify: async () => [...counts].filter((count) => count < EVENTS).map((count) => `it read ${count} records`),
      async close() {
        db.close();
        await log.release();
      },
    };
  },
};

const compares: Side = {
  name: COMPARES,
  syncs: 'its scratch file (SQLite, WAL, synchronous = NORMAL)',
  async open() {
    const folder = await log.take();
    const db = new DatabaseSync(join(folder.path, DATABASE_FILE), { readOnly: true });
    const facts = factsOf(db);
    db.close();
    const history = openHistory(folder.path, facts.logId);
    const codecs = await createRecordCodecs(history.registry, Date.now);
    const expressions = createExpressionLanguage();
    const book = createRuleBook((placed) => compileRule(placed, expressions), createTemplateRenderer());
    const comparing = {
      configurations: editedConfigurations(),
      ids: createIds(new Uint8Array(32)),
      book: narrowRuleBook(book, ({ notification }) => notification.ref.name === EDITED_NAME),
    };
    const run = runOver(facts);
    const scratchFile = join(folder.path, 'runs', `${run.id}.scratch`);
    await mkdir(join(folder.path, 'runs'), { recursive: true });
    const expected = addedEvents();
    const found = new Set<string>();
    const checksums = new Set<string>();
    return {
      async round() {
        const begun = performance.now();
        removeScratchFile(scratchFile);
        const scratch = openScratchFile(scratchFile, run.id);
        let added = 0;
        try {
          const { counts, checksum } = await compareHistory(
            { run, history, scratch, lookups: codecs.lookup, pace: createPace(history), comparing },
            {
              progress: () => undefined,
              async slots(slots) {
                added += slots.length;
                return slots.map(() => 'none');
              },
              lookups: async () => undefined,
            },
          );
          checksums.add(checksum);
          found.add(`${counts.events} events with ${added} added messages`);
          return { done: counts.events, seconds: (performance.now() - begun) / 1000 };
        } finally {
          scratch.close();
        }
      },
      async verify() {
        found.delete(`${EVENTS} events with ${expected} added messages`);
        return [
          ...[...found].map((what) => `it found ${what}, and not ${expected} of ${EVENTS}`),
          ...(checksums.size === 1 ? [] : ['its rounds have different checksums']),
        ];
      },
      async close() {
        history.close();
        await log.release();
      },
    };
  },
};

function runOver({ logId, partitions }: LogFacts): CompareRun {
  const now = Date.now();
  return {
    id: 'run_bench' as RunId,
    workspace: 'shop',
    kind: 'compare',
    by: OWNER_ACTOR,
    from: 0,
    to: now,
    logStartsAt: null,
    logId,
    offsets: partitions.map(({ from, to }, partition) => ({ partition, first: 0, end: to - from })),
    before: 1,
    published: 1,
    changes: [],
    notifications: [EDITED_NAME],
    notCompared: [],
    leftOut: [],
    progress: { read: 0, total: partitions.reduce((sum, { from, to }) => sum + to - from, 0) },
    counts: null,
    checksum: null,
    job: 'job_bench' as JobId,
    createdAt: now,
    version: 1,
  };
}

/** How many events of the log the edited rule adds. */
function addedEvents(): number {
  const corpus = createCorpus();
  let added = 0;
  for (let event = 0; event < EVENTS; event += 1) if (isAdded(corpus.next())) added += 1;
  return added;
}

export const comparingBesideReading: BenchCase = {
  title: 'one edited rule of ten, embedded',
  counted: 'events',
  sides: [compares, reads],
  comparisons: [
    { side: COMPARES, to: READS, measure: 'rate', wanted: 'at least', floor: 0.13, goal: 0.24 },
    { side: COMPARES, to: READS, measure: 'cpu', wanted: 'at most' },
  ],
};
