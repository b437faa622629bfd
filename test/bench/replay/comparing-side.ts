import { join } from 'node:path';
import { createExpressionLanguage } from '@carillon/adapter-cel';
import { openEmbedded, openScratchFile, removeScratchFile } from '@carillon/adapter-embedded';
import { createTemplateRenderer } from '@carillon/adapter-handlebars';
import { createIds, systemClock } from '@carillon/adapter-system';
import { createRecordCodecs } from '@carillon/contracts';
import { OWNER_ACTOR } from '@carillon/domain/people';
import { compileRule } from '@carillon/domain/rules';
import type { CompareRun } from '@carillon/domain/runs';
import type { JobId, RunId } from '@carillon/kernel';
import type { EventHistory } from '@carillon/ports';
import { createRuleBook, narrowRuleBook } from '@carillon/stages';
import { compareHistory } from '../../../apps/cli/src/replay/compare-history.ts';
import { createPace } from '../../../apps/cli/src/replay/pace.ts';
import type { Side } from '../harness/bench.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { EDITED_NAME, editedConfigurations } from './edited-rules.ts';

export const COMPARES = 'carillon compares';

/** A log of events, and how many of them the edited rule adds. */
export type ComparedLog = {
  readonly history: Omit<EventHistory, 'registry'>;
  readonly events: number;
  readonly added: number;
  release(): Promise<void>;
};

async function runOver(history: ComparedLog['history']): Promise<CompareRun> {
  const offsets = [];
  for (let partition = 0; partition < history.partitions('carillon.events'); partition += 1) {
    const { start, end } = await history.bounds('carillon.events', partition);
    offsets.push({ partition, first: start, end });
  }
  const now = Date.now();
  return {
    id: 'run_bench' as RunId,
    workspace: 'shop',
    kind: 'compare',
    by: OWNER_ACTOR,
    from: 0,
    to: now,
    logStartsAt: null,
    logId: history.logId,
    offsets,
    before: 1,
    published: 1,
    changes: [],
    notifications: [EDITED_NAME],
    notCompared: [],
    leftOut: [],
    progress: { read: 0, total: offsets.reduce((sum, { first, end }) => sum + end - first, 0) },
    counts: null,
    checksum: null,
    job: 'job_bench' as JobId,
    createdAt: now,
    version: 1,
  };
}

/** Compares the whole log with the loop of the child, in this process. Each round has to find the same. */
export const comparing = (openLog: () => Promise<ComparedLog>): Side => ({
  name: COMPARES,
  syncs: 'its scratch file (SQLite, WAL, synchronous = NORMAL)',
  async open() {
    const folder = await temporaryFolder();
    const data = await openEmbedded({ dataDir: folder.path, clock: systemClock });
    const { lookup: lookups, deadLetter: deadLetters } = await createRecordCodecs(data.registry, systemClock.now);
    const log = await openLog();
    const { history, events, added } = log;
    const expressions = createExpressionLanguage();
    const book = createRuleBook((placed) => compileRule(placed, expressions), createTemplateRenderer());
    const parts = {
      run: await runOver(history),
      history: { ...history, registry: data.registry },
      lookups,
      deadLetters,
      pace: createPace(history),
      comparing: {
        configurations: editedConfigurations(),
        ids: createIds(new Uint8Array(32)),
        book: narrowRuleBook(book, ({ notification }) => notification.ref.name === EDITED_NAME),
      },
    };
    const scratchFile = join(folder.path, 'run_bench.scratch');
    const found = new Set<string>();
    const textOf = (read: number, rows: number, checksum: string): string =>
      `${read} events, ${rows} rows, ${checksum}`;

    return {
      async round() {
        const begun = performance.now();
        removeScratchFile(scratchFile);
        const scratch = openScratchFile(scratchFile, 'run_bench');
        try {
          let rows = 0;
          const { counts, checksum } = await compareHistory(
            { ...parts, scratch },
            {
              progress: () => undefined,
              async slots(slots) {
                rows += slots.length;
                return slots.map(() => 'none');
              },
              lookups: async () => undefined,
            },
          );
          found.add(textOf(counts.events, rows, checksum));
          return { done: counts.events, seconds: (performance.now() - begun) / 1_000 };
        } finally {
          scratch.close();
        }
      },
      async verify() {
        const [first = '', ...others] = found;
        const isRight = others.length === 0 && first.startsWith(textOf(events, added, ''));
        return isRight
          ? []
          : [`it found ${[...found].join('; ')}, and right is ${textOf(events, added, 'one checksum')}`];
      },
      async close() {
        await log.release();
        await data.close();
        await folder.remove();
      },
    };
  },
});
