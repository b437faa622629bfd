import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openEmbedded, openHistory, openScratchFile, type Embedded } from '@carillon/adapter-embedded';
import { createIds } from '@carillon/adapter-system';
import { OWNER_ACTOR } from '@carillon/domain/people';
import { MAX_FOUND_EVENTS, type FindRun } from '@carillon/domain/runs';
import type { JobId, RunId } from '@carillon/kernel';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findText } from './find-text.ts';
import { createPace } from './pace.ts';
import { createRunChild } from './run-child.ts';

const EVENTS = 400;
const KEY = new Uint8Array(32).fill(7);
const ids = createIds(KEY);
const RARE = 'rare@example.com';

let folder: string;
let data: Embedded;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'carillon-search-'));
  data = await openEmbedded({ dataDir: folder, clock: { now: () => Date.now() }, partitions: 2 });
  await data.log.append(Array.from({ length: EVENTS }, (_, index) => orderEvent(index)));
  await mkdir(join(folder, 'runs'), { recursive: true });
});
afterAll(async () => {
  await data.close();
  await rm(folder, { recursive: true, force: true });
});

/** Every hundredth order is of a rare person: as UTF-8, escaped, in capitals, and of another workspace. */
function orderEvent(index: number) {
  const forms = [RARE, String.raw`\u0072are\u0040example.com`, 'Rare@EXAMPLE.com', RARE];
  const email = index % 100 === 7 ? forms[Math.floor(index / 100)] : `ada${index}@example.com`;
  const value = new TextEncoder().encode(`{"order_id":"A-${index}","customer":{"email":"${email}"}}`);
  const workspace = index === 307 ? 'rival' : 'shop';
  const headers = { kind: 'event', enc: '0', workspace, stream: `${workspace}/orders`, event_id: `evt_${index}` };
  return { topic: 'carillon.events', partition: index % 2, key: `k${index}`, value, headers } as const;
}

async function newRun(facts: Partial<FindRun> = {}): Promise<FindRun> {
  const offsets = [];
  for (const partition of [0, 1]) {
    const { start, end } = await data.log.bounds('carillon.events', partition);
    offsets.push({ partition, first: start, end });
  }
  const now = Date.now();
  return {
    id: ids.random('run') as RunId,
    workspace: 'shop',
    kind: 'find',
    by: OWNER_ACTOR,
    from: 0,
    to: now + 1_000,
    logStartsAt: null,
    logId: data.log.logId,
    offsets,
    published: 0,
    textHash: 'hash',
    progress: { read: 0, total: offsets.reduce((sum, { first, end }) => sum + end - first, 0) },
    counts: null,
    checksum: null,
    job: 'job_1' as JobId,
    createdAt: now,
    version: 1,
    ...facts,
  };
}

const scratchFile = (run: FindRun): string => join(folder, 'runs', `${run.id}.scratch`);

/** Searches in this process, with a checkpoint after each page. `onProgress` may throw, as a kill would end the search. */
async function search(run: FindRun, texts: readonly string[], onProgress: (read: number) => void = () => undefined) {
  const history = openHistory(folder, data.log.logId);
  const scratch = openScratchFile(scratchFile(run), run.id);
  try {
    return await findText(
      { run, texts, history, scratch, pace: createPace(history), pageRecords: 20, reportEveryMs: 0 },
      { progress: ({ read }) => onProgress(read) },
    );
  } finally {
    scratch.close();
    history.close();
  }
}
const numbers = (events: readonly { readonly eventId: string }[]) => events.map(({ eventId }) => eventId).toSorted();

describe('A search over past events', () => {
  it('finds the events of its workspace, however they write the text', async () => {
    const { counts, events } = await search(await newRun(), [RARE]);
    expect(numbers(events)).toEqual(['evt_107', 'evt_207', 'evt_7']);
    expect(counts).toEqual({ events: EVENTS - 1, found: 3 });
    expect(events.map(({ position }) => position)[0]).toContain('carillon.events/');
  });

  it('finds nothing outside its time range', async () => {
    const { events, counts } = await search(await newRun({ to: 1 }), [RARE]);
    expect({ events, counts }).toEqual({ events: [], counts: { events: 0, found: 0 } });
  });

  it('continues from its checkpoint, with the same result and without the text on the disk', async () => {
    const whole = await search(await newRun(), [RARE]);
    const run = await newRun();
    const killed = search(run, [RARE], (read) => {
      if (read >= 150) throw new Error('killed');
    });
    await expect(killed).rejects.toThrow('killed');
    expect((await readFile(scratchFile(run))).includes(RARE)).toBe(false);
    const reads: number[] = [];
    expect(await search(run, [RARE], (read) => void reads.push(read))).toEqual(whole);
    expect(reads[0]).toBeGreaterThanOrEqual(150);
  });

  it('keeps the newest events and counts all', async () => {
    const many = Array.from({ length: 2 * MAX_FOUND_EVENTS + 50 }, (_, index) => {
      const event = orderEvent(index);
      const headers = { ...event.headers, workspace: 'crowd', event_id: `evt_c${index}` };
      return { ...event, headers, value: new TextEncoder().encode(`{"to":"${RARE}"}`) };
    });
    await data.log.append(many.slice(0, 1_000));
    await data.log.append(many.slice(1_000));
    const { counts, events } = await search(await newRun({ workspace: 'crowd', to: Date.now() + 1_000 }), [RARE]);
    expect(counts.found).toBe(many.length);
    expect(events).toHaveLength(MAX_FOUND_EVENTS);
    const times = events.map(({ at }) => at);
    expect(times).toEqual(times.toSorted((a, b) => b - a));
  });

  it('survives a kill of its child process', async () => {
    const troubles: string[] = [];
    const runChild = createRunChild({
      source: { kind: 'embedded', dataDir: folder },
      folder: join(folder, 'runs'),
      ledgerKey: KEY,
      pageRecords: 5,
      trouble: (where) => void troubles.push(where),
      watch: {
        ended: () => undefined,
        begin: () => ({ read: () => undefined, childEnded: () => undefined, end: () => undefined }),
      },
    });
    const run = await newRun();
    let kills = 1;
    const { events } = await runChild.execute<'find'>(
      run,
      { texts: [RARE] },
      {
        begin: async () => undefined,
        async progress() {
          const pid = kills > 0 ? await childOf() : undefined;
          if (pid !== undefined) process.kill(pid, 'SIGKILL');
          if (pid !== undefined) kills -= 1;
        },
      },
      new AbortController().signal,
    );
    expect(numbers(events)).toEqual(['evt_107', 'evt_207', 'evt_7']);
    expect({ kills, troubles }).toEqual({ kills: 0, troubles: [`find over past events, ${run.id}`] });
  });
});

/** The child process that searches. */
async function childOf(): Promise<number | undefined> {
  const text = await readFile(`/proc/${process.pid}/task/${process.pid}/children`, 'utf8');
  for (const pid of text.split(' ').filter((each) => each !== '')) {
    const command = await readFile(`/proc/${pid}/cmdline`, 'utf8').catch(() => '');
    if (command.includes('replay/child.ts')) return Number(pid);
  }
  return undefined;
}
