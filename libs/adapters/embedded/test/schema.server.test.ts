import { mkdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import type { Delivery } from '@carillon/domain/deliveries';
import { isCarillonError, stringifyJson } from '@carillon/kernel';
import { deliveryOf } from '@carillon/testing';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { openEmbedded, type EmbeddedOptions } from '../src/index.ts';
import { DELIVERIES_COUNTED_BY_INSERT } from '../src/schema/deliveries.ts';
import { TASKS_BY_QUEUE } from '../src/schema/lookups.ts';
import { migrate, MIGRATIONS } from '../src/schema/migrations.ts';
import { MOVE } from '../src/stores/delivery-row.ts';
import { temporaryFolder, wallClock } from './open-embedded.ts';

let folder = temporaryFolder();
beforeEach(() => {
  folder = temporaryFolder();
});
afterEach(() => folder.remove());

const file = (): string => join(folder.path, 'carillon.db');
const open = (more: Partial<EmbeddedOptions> = {}) => openEmbedded({ dataDir: folder.path, clock: wallClock, ...more });
const change = (sql: string): void => {
  const db = new DatabaseSync(file());
  db.exec(sql);
  db.close();
};
const refusal = async (more: Partial<EmbeddedOptions> = {}): Promise<{ code: string; detail: string }> => {
  try {
    await (await open(more)).close();
    return { code: 'opened', detail: '' };
  } catch (error) {
    return isCarillonError(error) ? error : { code: 'not ours', detail: String(error) };
  }
};

/** As early versions did: the intent within the document, and the columns that there were then. */
function addAsThen(db: DatabaseSync, delivery: Delivery): void {
  const { id, version, state, slot, intent, nextAt, leaseUntil, createdAt, updatedAt } = delivery;
  const slotColumns = [slot.workspace, slot.notificationId, slot.channel, slot.uniqueId];
  const found = [intent.notification, intent.eventId, intent.to, nextAt, leaseUntil, 0, createdAt, updatedAt];
  const row = [id, version, state, ...slotColumns, ...found, stringifyJson(delivery)];
  db.prepare(`INSERT INTO deliveries VALUES (${row.map(() => '?').join(', ')})`).run(...row);
}

describe('the data file', () => {
  it('is migrated from every older version with its contents', async () => {
    for (let version = 1; version < MIGRATIONS.length; version += 1) {
      folder.remove();
      mkdirSync(folder.path);
      const db = new DatabaseSync(file());
      migrate(db, MIGRATIONS.slice(0, version));
      db.exec(`
        INSERT INTO log_identity VALUES (1, 'log_0000000000000000000000000A', 1);
        INSERT INTO partitions (topic, partition, start, next) VALUES ('carillon.events', 0, 3, 4), ('carillon.events', 1, 0, 0);
        INSERT INTO records SELECT id * (1 << 40) + 3, 5, 'k', '{}', CAST('old' AS BLOB) FROM partitions WHERE next = 4;
      `);
      db.close();
      const embedded = await open();
      expect(embedded.log.logId).toBe('log_0000000000000000000000000A');
      expect(embedded.log.partitions('carillon.intents')).toBe(2);
      const [record] = await embedded.log.read('carillon.events', 0, 0, 1);
      expect([record?.offset, new TextDecoder().decode(record?.value)]).toEqual([3, 'old']);
      await embedded.readModels.markRedriven('nothing', 1, 'ann');
      await embedded.close();
    }
  });

  it('reports a migration with both versions before it starts, and nothing if none is needed', async () => {
    const told: (readonly number[])[] = [];
    const migrating = (from: number, to: number): void => void told.push([from, to]);
    const embedded = await open({ migrating });
    await embedded.close();
    expect(told).toEqual([]);
    folder.remove();
    mkdirSync(folder.path);
    const db = new DatabaseSync(file());
    const last = MIGRATIONS.length;
    migrate(db, MIGRATIONS.slice(0, last - 2));
    db.close();
    await (await open({ migrating })).close();
    await (await open({ migrating })).close();
    expect(told).toEqual([[last - 2, last]]);
  });

  it('continues the delivery counts of an older version', async () => {
    const first = deliveryOf({ intent: { variables: { total: 9_007_199_254_740_993n, name: 'Grüße "x" \\ \u0001' } } });
    const db = new DatabaseSync(file());
    migrate(db, MIGRATIONS.slice(0, MIGRATIONS.indexOf(DELIVERIES_COUNTED_BY_INSERT)));
    addAsThen(db, first);
    db.close();
    const embedded = await open();
    const second = deliveryOf();
    await embedded.ledger.insert([first, second, second]);
    expect(await embedded.ledger.countByState()).toEqual({ WAITING: 2 });
    const { person, rule } = first.intent;
    const listed = await embedded.ledger.list({ reasons: [first.reason], person, rule, test: false }, 10);
    expect(listed.items.map(({ id }) => id)).toContain(first.id);
    expect(first.reason).toBe('new');
    expect((await embedded.ledger.list({ reasons: ['new'] }, 10)).items).toHaveLength(2);
    // Nothing that an intent holds is lost on its way to a place of its own, and it goes on from there.
    expect(await embedded.ledger.get(first.id)).toEqual(first);
    expect(await embedded.ledger.replace({ ...first, version: 2, state: 'SENT', nextAt: null })).toBe('done');
    expect((await embedded.ledger.get(first.id))?.intent).toEqual(first.intent);
    await embedded.close();
  });

  it('has separate indexes for new and for held deliveries, so that a search for new ones skips none', async () => {
    const held = { reason: 'quiet_hours' } as const;
    const embedded = await open();
    const [moved, ...others] = [deliveryOf(), deliveryOf(), deliveryOf(held), deliveryOf(held), deliveryOf(held)];
    await embedded.ledger.insert([moved, ...others]);
    await embedded.ledger.replace({ ...moved, ...held, version: 2 });
    await embedded.close();
    const db = new DatabaseSync(file());
    const walked = db.prepare('SELECT phase, count(*) AS rows FROM deliveries GROUP BY phase ORDER BY phase').all();
    db.close();
    expect(walked).toEqual([
      { phase: 'NEW', rows: 1 },
      { phase: 'OPEN', rows: 4 },
    ]);
  });

  it('has no index on lists that every state change writes', () => {
    const db = new DatabaseSync(file());
    migrate(db, MIGRATIONS);
    const indexes = db.prepare("SELECT name, rootpage FROM sqlite_schema WHERE type = 'index'").all();
    const program = db.prepare(`EXPLAIN ${MOVE}`).all();
    // Behind the statement stands that of the trigger that counts, whose steps are numbered from 0 again.
    const end = program.findIndex(({ addr }, at) => at > 0 && addr === 0);
    const steps = program.slice(0, end < 0 ? undefined : end);
    const nameOf = (cursor: unknown): unknown => {
      const opened = steps.find(({ opcode, p1 }) => opcode === 'OpenWrite' && p1 === cursor);
      return indexes.find(({ rootpage }) => rootpage === opened?.['p2'])?.['name'];
    };
    const written = steps.filter(({ opcode }) => opcode === 'IdxInsert').map(({ p1 }) => String(nameOf(p1)));
    db.close();
    // What is due, what is under way and what is not on the log are what the sender itself looks for.
    expect(written.toSorted()).toEqual([
      'deliveries_due',
      'deliveries_lease',
      'deliveries_unlisted',
      'deliveries_unpublished',
      'deliveries_waiting',
    ]);
  });

  it('keeps partner questions that an older version left open', async () => {
    const db = new DatabaseSync(file());
    migrate(db, MIGRATIONS.slice(0, MIGRATIONS.indexOf(TASKS_BY_QUEUE)));
    db.exec(`
      INSERT INTO tasks (id, kind, workspace, next_at, version, done, data)
      VALUES ('trg_1', 'ask shop/crm/eu', 'shop', 5, 1, 0, '{}')
    `);
    db.close();
    const embedded = await open();
    const [queue] = await embedded.tasks.dueQueues(10);
    expect(queue).toEqual({ job: 'ask', workspace: 'shop', name: 'crm/eu' });
    if (!queue) throw new Error('nothing is due');
    expect(await embedded.tasks.due(queue, 10, 1)).toMatchObject([{ id: 'trg_1', queue }]);
    await embedded.close();
  });

  it('of a newer version is refused and left unchanged', async () => {
    await (await open()).close();
    change(`PRAGMA user_version = ${MIGRATIONS.length + 1}`);
    const { code, detail } = await refusal();
    expect(code).toBe('data_version');
    expect(detail).toContain(`version ${MIGRATIONS.length + 1}`);
    change(`PRAGMA user_version = ${MIGRATIONS.length}`);
    expect((await refusal()).code).toBe('opened');
  });

  it('of another program is refused, and so is a file that is not a database', async () => {
    change('CREATE TABLE theirs (a)');
    expect((await refusal()).code).toBe('data_version');
    folder.remove();
    mkdirSync(folder.path);
    writeFileSync(file(), 'not a database, '.repeat(1000));
    expect((await refusal()).code).toBe('data_damaged');
  });

  it('is refused without the unique index that keeps one delivery per message', async () => {
    await (await open()).close();
    change('DROP INDEX deliveries_slot');
    expect(await refusal()).toMatchObject({ code: 'data_version' });
    change('CREATE INDEX deliveries_slot ON deliveries (unique_id, workspace, notification_id, channel)');
    expect(await refusal()).toMatchObject({ code: 'data_version' });
    change('DROP INDEX deliveries_slot');
    change('CREATE UNIQUE INDEX deliveries_slot ON deliveries (unique_id, workspace, notification_id, channel)');
    expect((await refusal()).code).toBe('opened');
  });

  it('keeps its log id and number of partitions, and cannot be opened with another number', async () => {
    const first = await open({ partitions: 3 });
    expect(first.log.partitions('carillon.events')).toBe(3);
    expect(first.log.partitions('carillon.config')).toBe(1);
    await first.close();
    const second = await open();
    expect(second.log.logId).toBe(first.log.logId);
    expect(second.log.partitions('carillon.dead-letters')).toBe(3);
    await second.close();
    expect((await refusal({ partitions: 8 })).code).toBe('invalid_configuration');
  });

  it('is readable by its owner only, and is a single file after it is closed', async () => {
    const dataDir = join(folder.path, 'made');
    const embedded = await openEmbedded({ dataDir, clock: wallClock });
    const modes = ['', 'carillon.db', 'carillon.db-wal', 'carillon.lock', 'carillon.lock.json'].map(
      (name) => statSync(join(dataDir, name)).mode & 0o777,
    );
    expect(modes).toEqual([0o700, 0o600, 0o600, 0o600, 0o600]);
    await embedded.close();
    expect(statSync(join(dataDir, 'carillon.db-wal'), { throwIfNoEntry: false })).toBeUndefined();
  });
});
