import type { PostgresPosition } from '@carillon/domain/changes';
import { ok } from '@carillon/kernel';
import type { SourceTarget } from '@carillon/ports';
import { setTimeout as pause } from 'node:timers/promises';
import { createPostgresSources } from '../../src/index.ts';

/*
 * Reads a table whose rows have the ids 1, 2, 3 … in a process of its own, so that its memory can be measured. The parent process
 * confirms each batch as a log would.
 */

export type ReadingProcessOrder = {
  readonly target: SourceTarget;
  readonly table: string;
  readonly from: PostgresPosition | null;
  /** Time that a batch takes to become durable, beside the parent's. */
  readonly takeMs: number;
};

/** A batch, whose ids follow each other. Null: a position without changes. */
export type TakenBatch = {
  readonly ids: { readonly first: number; readonly last: number } | null;
  readonly position: PostgresPosition;
  /** Resident memory of the process, in bytes. */
  readonly rss: number;
};

const { target, table, from, takeMs } = JSON.parse(process.argv[2] ?? '') as ReadingProcessOrder;
const sources = createPostgresSources({
  guard: {
    resolve: () => Promise.resolve(ok([{ address: '127.0.0.1', family: 4, listed: true, isPublic: false }])),
  },
  timing: { statusMs: 100, idleMs: 200, reportMs: 150 },
});
let confirm: (() => void) | undefined;
process.on('message', () => confirm?.());

const reader = sources.open(target, [table], from, {
  async take({ changes, position }) {
    const ids = changes.map((read) => ('change' in read ? read.change.event['id'] : null));
    const first = Number(ids[0]);
    ids.forEach((id, index) => {
      if (id !== first + index) throw new Error(`the id ${first + index} is missing before ${JSON.stringify(id)}`);
    });
    const confirmed = new Promise<void>((resolve) => (confirm = resolve));
    const batch: TakenBatch = {
      ids: ids.length === 0 ? null : { first, last: first + ids.length - 1 },
      position,
      rss: process.memoryUsage.rss(),
    };
    process.send?.(batch);
    await Promise.all([confirmed, takeMs > 0 ? pause(takeMs) : null]);
  },
  mostChanges: () => 300,
  report: () => undefined,
});
const end = await reader.ended;
throw new Error(`the reader ended: ${JSON.stringify(end)}`, { cause: 'error' in end ? end.error : null });
