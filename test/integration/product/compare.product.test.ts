import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { JobBody, RunBody, RunRowBody } from '@carillon/contracts';
import { startProduct, untilFound } from '@carillon/testing';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { openShop, order, restartOver, shopFiles, shopOf, type Files, type Shop } from './shop.ts';
import { tableContents, untilAllIsRead, WRITTEN_BY_RUNS } from './table-contents.ts';

/* An edited rule is compared with the published one over events that came before, by the running product. */

const RUNS = '/v1/workspaces/shop/runs';
const RULES = 'workspaces/shop/notifications/order-paid.yaml';
/** Events that neither side notifies anybody about: they make the run long enough to be interrupted. */
const OTHERS = 20_000;

/** The folder with another condition. */
function edited(condition: string): Files {
  const files = shopFiles();
  const text = files[RULES] ?? '';
  return { ...files, [RULES]: text.replace('event.total > 100', condition) };
}
/** Adds Bob, removes Eve, and leaves Ada. */
const EDIT = edited('event.total > 80 && event.name != "Eve"');

let closed: () => Promise<void>;
let shop: Shop;
beforeAll(async () => {
  const opened = await openShop();
  const sent = [
    await opened.send(order('A-1')),
    await opened.send(order('A-3', { total: 150, name: 'Eve', email: 'eve@example.com' })),
  ];
  await opened.send(order('A-2', { total: 90, name: 'Bob', email: 'bob@example.com' }));
  for (const id of sent) await opened.delivered(id, 'SENT');
  const restarted = await restartOver(opened, async ({ log }) => {
    const headers = { kind: 'event', enc: '0', workspace: 'shop', stream: 'shop/orders' };
    const value = new TextEncoder().encode(JSON.stringify(order('A-0', { status: 'open' })));
    const others = Array.from({ length: OTHERS }, (_, index) => {
      const event = { ...headers, event_id: `evt_OTHER${index}` };
      return { topic: 'carillon.events', partition: index % 8, key: 'other', value, headers: event } as const;
    });
    await log.append(others);
  });
  shop = restarted;
  closed = () => restarted.close();
});
afterAll(() => closed());

async function start(files: Files): Promise<RunBody> {
  const { status, body, headers } = await shop.api<RunBody>('POST', RUNS, { folder: { files, prune: false } });
  expect({ status, body }).toMatchObject({ status: 202, body: { state: 'waiting', notifications: ['order-paid'] } });
  expect(headers.get('location')).toBe(`${RUNS}/${body.id}`);
  return body;
}

const ended = ({ id }: RunBody): Promise<RunBody> =>
  untilFound(`run ${id} has ended`, async () => {
    const { body } = await shop.api<RunBody>('GET', `${RUNS}/${id}`);
    return body.ended_at === null ? undefined : body;
  });

/** Process id of the child that compares, once there is one. */
const child = (): Promise<number> =>
  untilFound('a child compares', async () => {
    const { pid } = shop.product;
    const pids = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean);
    const found = pids.find((one) => /replay[-/]child/.test(readFileSync(`/proc/${one}/cmdline`, 'utf8')));
    return found === undefined ? undefined : Number(found);
  });

const scratchFiles = (): readonly string[] => {
  try {
    return readdirSync(join(shop.dataDir, 'runs'));
  } catch {
    return [];
  }
};

describe('Comparing an edited rule over the log', () => {
  let whole: RunBody;

  it('says who would have been notified, and who would not', async () => {
    whole = await ended(await start(EDIT));
    expect(whole).toMatchObject({
      state: 'done',
      warning: null,
      reason: null,
      counts: {
        unreadable: 0,
        differences: { added: 1, removed: 1, changed: 0, new_unique_id: 0, unchanged: 1 },
        people: { added: 1, removed: 1 },
        slot_states: { added: { none: 1 }, removed: { notified: 1 } },
        by_rule: [{ rule: 'order-paid.paid', added: 1, removed: 1 }],
      },
    });
    expect(whole.sentence).toContain(
      'this edit would have added messages for 1 person and removed messages for 1. 1 message is unchanged.',
    );
    expect(scratchFiles()).toEqual([]);
  });

  it('lists the messages with names and addresses, which the result itself does not hold', async () => {
    const { body } = await shop.api<{ items: RunRowBody[] }>('GET', `${RUNS}/${whole.id}/rows`);
    expect(body.items).toMatchObject([
      { difference: 'added', slot_state: 'none', person: 'bob@example.com', before: null, after: 'bob@example.com' },
      {
        difference: 'removed',
        slot_state: 'notified',
        person: 'eve@example.com',
        before: 'eve@example.com',
        after: null,
      },
    ]);
    const filtered = await shop.api<{ items: RunRowBody[] }>('GET', `${RUNS}/${whole.id}/rows?difference=removed`);
    expect(filtered.body.items).toHaveLength(1);
    const csv = await fetch(`${shop.product.controlUrl}${RUNS}/${whole.id}/rows/export`, {
      headers: { authorization: `Bearer ${shop.product.token}` },
    });
    expect(await csv.text()).toMatch(/^"difference",.*\r\n"added","none",.*"bob@example\.com".*\r\n"removed",/);
    expect(JSON.stringify(whole)).not.toContain('@example.com');
    type Entries = { readonly items: readonly { readonly action: string; readonly target: string | null }[] };
    const audit = await shop.api<Entries>('GET', '/v1/audit?limit=50');
    const told = audit.body.items.filter(({ target }) => target === whole.id).map(({ action }) => action);
    expect(new Set(told)).toEqual(new Set(['run.start', 'run.end', 'content.read', 'run.export']));
  });

  it('has the same checksum after its child was killed, and writes nothing but its result', async () => {
    await untilAllIsRead(shop.dataDir);
    const before = tableContents(shop.dataDir);
    const run = await start(EDIT);
    process.kill(await child(), 'SIGKILL');
    expect(await ended(run)).toMatchObject({ state: 'done', checksum: whole.checksum, counts: whole.counts });
    const after = tableContents(shop.dataDir);
    const written = [...after].flatMap(([table, rows]) => (rows === before.get(table) ? [] : [table]));
    expect(written.filter((table) => !WRITTEN_BY_RUNS.includes(table))).toEqual([]);
    expect(written).toEqual(expect.arrayContaining(['jobs', 'run_rows', 'runs']));
  });

  it('leaves no name, address or text in its stored result, the log lines and the metrics', async () => {
    const db = new DatabaseSync(join(shop.dataDir, 'carillon.db'), { readOnly: true, timeout: 5_000 });
    onTestFinished(() => db.close());
    const rows = (['runs', 'run_rows', 'run_lookups', 'jobs'] as const).map((table) =>
      JSON.stringify(db.prepare(`SELECT * FROM ${table}`).all()),
    );
    const metrics = await (await fetch(`${shop.product.controlUrl}/metrics`)).text();
    expect(metrics).toMatch(/carillon_replay_runs_total\{.*\} [1-9]/);
    expect(rows.join('')).toContain(whole.checksum);
    const written = [...rows, metrics, shop.product.stderr()].join('\n');
    // The edit itself names Eve in its condition.
    for (const personal of ['ada@', 'bob@', 'eve@', 'Bob', 'Ada', 'Hello']) expect(written).not.toContain(personal);
  });

  it('ends its child when it is cancelled, and leaves no scratch file', async () => {
    const run = await start(EDIT);
    const pid = await child();
    // Held still, so that it does not end first.
    process.kill(pid, 'SIGSTOP');
    const cancelled = await shop.api<JobBody>('POST', `/v1/workspaces/shop/jobs/${run.job}/cancel`, {});
    expect(cancelled.status).toBe(200);
    expect(await ended(run)).toMatchObject({ state: 'cancelled', checksum: null });
    expect(() => process.kill(pid, 0)).toThrow('ESRCH');
    expect(scratchFiles()).toEqual([]);
  });

  it('has no rows for an edit that changes nothing, and refuses a folder with mistakes', async () => {
    const { status, body } = await shop.api<RunBody>('POST', RUNS, { folder: { files: shopFiles(), prune: false } });
    expect({ status, body }).toMatchObject({ status: 202, body: { changes: [], notifications: [] } });
    expect(await ended(body)).toMatchObject({ state: 'done', counts: { differences: { added: 0, unchanged: 0 } } });
    const files = edited('event.total >');
    const refused = await shop.api('POST', RUNS, { folder: { files, prune: false } });
    expect(refused).toMatchObject({ status: 400, body: { code: 'invalid_configuration' } });
    const empty = await shop.api('POST', RUNS, { from: '2020-01-01T00:00:00Z', to: '2020-01-02T00:00:00Z' });
    expect(empty).toMatchObject({ status: 400, body: { code: 'window_empty' } });
  });

  it('continues after a kill of the product, with the same checksum', async () => {
    const run = await start(EDIT);
    await child();
    await shop.product.kill('SIGKILL');
    const product = await startProduct({ dataDir: shop.dataDir });
    const close = closed;
    closed = async () => {
      await product.kill('SIGKILL');
      await close();
    };
    shop = shopOf(product, shop.folder, shop.dataDir, shop.key);
    expect(await ended(run)).toMatchObject({ state: 'done', checksum: whole.checksum, counts: whole.counts });
    expect(scratchFiles()).toEqual([]);
  });
});
