import { mkdtemp, rm, stat } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { openEmbedded, type Embedded } from '@carillon/adapter-embedded';
import type { RunResult } from '@carillon/control';
import type { Configuration, ResourceChange } from '@carillon/domain/configuration';
import type { CompareRun } from '@carillon/domain/runs';
import { untilFound } from '@carillon/testing';
import { integration, changesOf, notification, ORDER_PAID } from '@carillon/testing/given';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import {
  appendOrders,
  children,
  EDITED,
  EVENTS,
  factsAt,
  scratchFileOf,
  startComparison,
  type ComparisonPlace,
  type LogWithOrders,
} from '../../test/comparison-fixture.ts';
import { VERSION } from '../version.ts';
import { createRunChild } from './run-child.ts';

const clock = { now: () => Date.now() };

let folder: string;
let data: Embedded;
let configuration: Configuration;
let newRun: LogWithOrders['newRun'];
/** The result of a run that nothing interrupted. */
let whole: RunResult<'compare'>;
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'carillon-comparison-'));
  data = await openEmbedded({ dataDir: folder, clock, partitions: 2 });
  ({ configuration, newRun } = await appendOrders(data));
});
afterAll(async () => {
  await data.close();
  await rm(folder, { recursive: true, force: true });
});

type Options = { readonly pageRecords?: number; readonly edit?: readonly ResourceChange[] };

const place = (): ComparisonPlace => ({ source: { kind: 'embedded', dataDir: folder }, folder: join(folder, 'runs') });

/** Compares with a real child. */
const compared = async (run: CompareRun, { pageRecords, edit = changesOf(configuration, [EDITED]) }: Options = {}) =>
  startComparison(place(), run, { pageRecords, edit });

const scratchFile = (run: CompareRun): string => scratchFileOf(place(), run);

/** The state in a scratch file. Undefined until the child has committed for the first time. */
function checkpointOf(run: CompareRun): { readonly lookups: unknown; readonly copied: number } | undefined {
  let file: DatabaseSync | null = null;
  try {
    file = new DatabaseSync(scratchFile(run), { readOnly: true });
    const row = file.prepare('SELECT state FROM checkpoint').get();
    return row && (JSON.parse(String(row['state'])) as ReturnType<typeof checkpointOf>);
  } catch {
    return undefined;
  } finally {
    file?.close();
  }
}

describe('A comparison in a child process', () => {
  it('finds the slots that an edit adds and removes, and nothing for an edit that changes nothing', async () => {
    const run = await newRun();
    const first = await compared(run, { pageRecords: 10 });
    whole = await first.comparing;
    expect(first.heard).toMatchObject({ recordsRead: run.progress.total, watched: ['done'] });
    expect(first.heard.reads.slice(0, 2)).toEqual([0, 10]);
    const { checksum, counts, unchanged } = whole;
    const differences = Map.groupBy(first.heard.slots, ({ difference }) => difference);
    expect(differences.get('added')).toHaveLength(EVENTS / 3);
    expect(differences.get('removed')).toHaveLength(EVENTS / 3);
    expect(unchanged).toEqual([]);
    expect(counts).toMatchObject({ events: (EVENTS / 3) * 2, unreadable: 1, pastRetention: 0 });
    expect(first.heard.slots[0]).toMatchObject({ rule: 'order-paid.paid', channel: 'email' });
    const same = await compared(await newRun(), { edit: [] });
    const result = await same.comparing;
    expect(same.heard.slots).toEqual([]);
    expect(result.unchanged).toEqual([['order-paid.paid', EVENTS / 3]]);
    expect(result.checksum).not.toBe(checksum);
  });

  it('finds the events of rules that need a lookup, also after its child was killed', async () => {
    const asking = notification('order-paid', {
      ...ORDER_PAID,
      rules: {
        paid: {
          stream: 'orders',
          when: 'event.status == "refunded"',
          recipients: { from: 'lookup', integration: 'crm', user_ids: '[event.order_id, "owner"]' },
        },
      },
    });
    const crm = integration('crm', { kind: 'lookup', url: 'https://crm.example.com/people', match: 'id' } as never);
    const edit = changesOf(configuration, [crm, asking]);
    const run = await newRun();
    const { comparing, heard } = await compared(run, { pageRecords: 1, edit });
    const pid = await untilFound('the child has written a few pages', async () => {
      const log = await stat(`${scratchFile(run)}-wal`).catch(() => null);
      return (log?.size ?? 0) > 100_000 ? (await children())[0] : undefined;
    });
    process.kill(pid, 'SIGKILL');
    const { counts } = await comparing;
    expect(heard.begun).toBe(2);
    expect(counts.needsLookup).toBe(EVENTS / 3);
    expect(heard.lookups).toHaveLength(EVENTS / 3);
    expect(new Set(heard.lookups.map(({ eventId }) => eventId)).size).toBe(EVENTS / 3);
    const first = heard.lookups.find(({ eventId }) => eventId === 'evt_1');
    expect(first).toMatchObject({ position: 'carillon.events/1@1', rule: 'order-paid.paid', userIds: 2 });
  });

  it('continues from its checkpoint after its child was killed, with the same checksum', async () => {
    const run = await newRun();
    const { comparing, heard } = await compared(run, { pageRecords: 1 });
    const pid = await untilFound('the child has written a few pages', async () => {
      const log = await stat(`${scratchFile(run)}-wal`).catch(() => null);
      return (log?.size ?? 0) > 100_000 ? (await children())[0] : undefined;
    });
    process.kill(pid, 'SIGKILL');
    const result = await comparing;
    expect(heard.begun).toBe(2);
    expect(heard.watched).toContain('child ended');
    expect(heard.watched.at(-1)).toBe('done');
    expect(heard.troubles).toEqual([expect.stringMatching(new RegExp(`${run.id}.*ended by SIGKILL`))]);
    expect(heard.readAtBegin[1]).toBeGreaterThan(0);
    expect(result).toEqual(whole);
    expect(heard.slots).toHaveLength((EVENTS / 3) * 2);
  });

  it('starts again if the scratch file is of another release', async () => {
    const run = await newRun();
    const begun = await compared(run, { pageRecords: 1 });
    await untilFound('the child has written a few pages', async () => {
      const log = await stat(`${scratchFile(run)}-wal`).catch(() => null);
      return (log?.size ?? 0) > 100_000 ? true : undefined;
    });
    begun.stop.abort(new Error('upgraded'));
    await expect(begun.comparing).rejects.toThrow('upgraded');
    const file = new DatabaseSync(scratchFile(run));
    file.exec(`UPDATE identity SET name = replace(name, '"${VERSION}"', '"0.0.1"')`);
    file.close();
    const { comparing, heard } = await compared(run);
    expect(await comparing).toEqual(whole);
    expect(heard.readAtBegin).toEqual([0]);
  });

  it('ends its child within 2 s of a stop, and keeps a scratch file that only its owner reads', async () => {
    const run = await newRun();
    const { runChild, comparing, heard, stop } = await compared(run, { pageRecords: 1 });
    await untilFound('the child compares', async () => {
      const [pid] = await children();
      const file = await stat(scratchFile(run)).catch(() => null);
      return pid !== undefined && file ? pid : undefined;
    });
    expect((await stat(scratchFile(run))).mode & 0o077).toBe(0);
    stop.abort(new Error('cancelled'));
    await expect(comparing).rejects.toThrow('cancelled');
    expect(heard.watched.at(-1)).toBe('stopped');
    expect(await children()).toEqual([]);
    expect(await runChild.known()).toContain(run.id);
    await runChild.forget(run);
    expect(await runChild.known()).not.toContain(run.id);
  });

  it('starts no child if it is stopped before the start', async () => {
    let started = false;
    const stop = new AbortController();
    const facts = factsAt(place());
    const reports = {
      begin: async () => stop.abort(new Error('cancelled')),
      progress: async () => void (started = true),
      slots: async () => [],
      lookups: async () => undefined,
    };
    await expect(
      createRunChild(facts).execute<'compare'>(await newRun(), { edit: [] }, reports, stop.signal),
    ).rejects.toThrow('cancelled');
    expect(started).toBe(false);
  });

  it('fails a run of another log by name', async () => {
    const runChild = createRunChild(factsAt(place()));
    const run = await newRun({ logId: 'log_other' as never });
    const reports = {
      begin: async () => undefined,
      progress: async () => undefined,
      slots: async () => [],
      lookups: async () => undefined,
    };
    await expect(
      runChild.execute<'compare'>(run, { edit: [] }, reports, new AbortController().signal),
    ).rejects.toMatchObject({
      code: 'wrong_log',
    });
  });
});

describe('A child process that keeps ending', () => {
  it('fails the run after three ends without progress, and names the signal that ended it', async () => {
    // The child of an earlier test may still end.
    const known = new Set(await children());
    const { comparing, heard } = await compared(await newRun());
    const ended = comparing.catch((error: unknown) => error);
    for (let kills = 0; kills < 3; kills += 1) {
      const pid = await untilFound('a child', async () => (await children()).find((child) => !known.has(child)));
      process.kill(pid, 'SIGKILL');
      known.add(pid);
    }
    expect(await ended).toMatchObject({
      code: 'internal',
      detail: expect.stringMatching(/ended 3 times in a row.*ended by SIGKILL.*too little memory/) as unknown,
    });
    expect(heard.begun).toBe(3);
  });

  it('does not fail the run while its copy of recorded lookups comes further', async () => {
    const record = {
      topic: 'carillon.lookups',
      partition: 0,
      key: 'k',
      headers: {},
      value: new Uint8Array(1),
    } as const;
    for (let page = 0; page < 60; page += 1) await data.log.append(Array.from({ length: 1_000 }, () => record));
    const recipients = { from: 'lookup', integration: 'crm', user_ids: '["u1"]', unique_id: 'event_id' } as const;
    const asking = { stream: 'orders', when: 'event.status == "none"', recipients };
    const edited = notification('order-paid', { ...ORDER_PAID, rules: { paid: asking } });
    const run = await newRun();
    const { comparing, heard } = await compared(run, { edit: changesOf(configuration, [edited]) });
    let [copied, killed] = [0, 0];
    for (let kills = 0; kills < 4; kills += 1) {
      const pid = await untilFound('a child has copied more', async () => {
        const child = (await children()).find((known) => known !== killed);
        return (checkpointOf(run)?.copied ?? 0) > copied ? child : undefined;
      });
      process.kill(pid, 'SIGKILL');
      copied = checkpointOf(run)?.copied ?? 0;
      killed = pid;
    }
    expect(await comparing).toMatchObject({ counts: { events: (EVENTS / 3) * 2 } });
    expect(heard.begun).toBe(5);
  });

  it('is reported differently if another process uses its scratch file', async () => {
    const run = await newRun();
    const { comparing, heard } = await compared(run, { pageRecords: 1 });
    await untilFound('the child has committed', async () => checkpointOf(run));
    const file = new DatabaseSync(scratchFile(run), { timeout: 5_000 });
    file.exec("UPDATE checkpoint SET state = state || ' '");
    file.close();
    expect(await comparing).toEqual(whole);
    expect(heard.troubles).toEqual([expect.stringMatching(/found its scratch file in use by another process/)]);
  });
});
