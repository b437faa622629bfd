import { readFileSync } from 'node:fs';
import { cp } from 'node:fs/promises';
import { join } from 'node:path';
import { untilFound } from '@carillon/testing';
import { createPostgresDatabase, type PostgresDatabase } from '@carillon/testing/services';
import type { SourceBody } from '@carillon/contracts';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { describeWith } from '../support/requirements.ts';
import { sharedServer } from '../support/shared-servers.ts';
import { embeddedHome } from './places.ts';
import { startCarillon, type Carillon } from './support.ts';

/*
 * 33. A database changes
 *
 * Nobody sends an event: Carillon reads which rows change. The ten lines of docs/databases.md on a real PostgreSQL, and the way
 * back from the mail to the transaction and the table.
 */

const ROOT = join(import.meta.dirname, '../..');
const EXAMPLE = 'docs/examples/orders-from-postgres';
const page = readFileSync(join(ROOT, 'docs/databases.md'), 'utf8');
const LINES = (/^```sh\n(CARILLON_[\s\S]*?)\n```$/m.exec(page)?.[1] ?? '').split('\n');
const ROLE = 'carillon';

describeWith('postgres', '33. A database changes, on one file', () => {
  let database: PostgresDatabase;
  let carillon: Carillon;
  beforeAll(async () => {
    database = await createPostgresDatabase((await sharedServer('postgres')).url);
  });
  afterAll(async () => {
    await carillon.leave();
    await database.run(`DROP OWNED BY ${ROLE} CASCADE`);
    await database.run(`DROP ROLE ${ROLE}`);
    await database.drop();
  });

  /** Names of the page, in place of which the test has its own. */
  const placed = (text: string): string =>
    text
      .replace('127.0.0.1/shop', `${new URL(database.url).host}/${database.name}`)
      .replace('DATABASE shop', `DATABASE ${database.name}`);

  async function runLine(line: string): Promise<void> {
    const start = /^(CARILLON_\w+)=(\S+) npm start/.exec(line);
    const statement = /^psql shop -c "(.*?)"/.exec(line);
    const [, input = '', command = ''] = /^(?:printf '([^']*)' \| )?npx carillon (.*)$/.exec(line) ?? [];
    if (start) {
      const [, name = '', value = ''] = start;
      carillon = await startCarillon(await embeddedHome(), [], { [name]: value });
      await cp(join(ROOT, EXAMPLE), join(carillon.folder, EXAMPLE), { recursive: true });
    } else if (statement) {
      await database.run(placed(statement[1] ?? ''));
    } else {
      const { code, out, err } = await carillon.command(command.split(' '), placed(input));
      expect({ line, code, out, err }).toMatchObject({ code: 0 });
    }
  }
  const source = async (): Promise<SourceBody | undefined> =>
    (await carillon.ask<{ items: readonly SourceBody[] }>(['sources'])).items[0];

  it('takes ten lines, from the start to a row that changes', async () => {
    expect(LINES).toHaveLength(10);
    const [insert = '', update = ''] = LINES.slice(-2);
    for (const line of LINES.slice(0, -2)) await runLine(line);
    await untilFound('the database is read', async () => ((await source())?.state === 'running' ? true : undefined));
    await runLine(insert);
    await runLine(update);
  });

  it('sends one mail with the previous values of the row', async () => {
    const message = await untilFound('the mail', async () => (await carillon.inbox())[0]);
    expect(message).toMatchObject({ to: 'ada@example.com', subject: 'Order 1 is paid' });
    expect(message.text).toContain('Your order 1 was open and is paid now.');
  });

  it('is traced from the mail back to its transaction and its table', async () => {
    const [row] = await database.run('SELECT xmin::text AS tx FROM orders');
    const { items } = await carillon.ask<{ items: readonly { event_id: string }[] }>(['deliveries']);
    expect(items).toHaveLength(1);
    const told = await carillon.trace(items[0]?.event_id ?? '');
    expect(told).toContain('public.orders');
    expect(told).toContain(String(row?.['tx']));
  });

  it('lists the database with its lag, and nothing is wrong', async () => {
    const { out } = await carillon.command(['sources']);
    expect(out).toMatch(/shop-db +running +\d+ s/);
    const check = await carillon.command(['integration', 'check', 'shop-db']);
    expect(check.out).toContain('table public.orders: can be read, with the row before');
    expect(await source()).toMatchObject({
      streams: ['order-rows'],
      tables: [{ table: 'public.orders', problem: null }],
    });
  });

  it('stops when somebody drops its slot, and begins again when a person resets it', async () => {
    await untilFound('the slot is dropped', async () => {
      await database.run('SELECT pg_terminate_backend(active_pid) FROM pg_replication_slots WHERE database = $1', [
        database.name,
      ]);
      const drop = 'SELECT pg_drop_replication_slot(slot_name) FROM pg_replication_slots WHERE database = $1';
      return database.run(drop, [database.name]).catch(() => undefined);
    });
    const stopped = await untilFound('it is stopped', async () => {
      const found = await source();
      return found?.state === 'stopped' ? found : undefined;
    });
    expect(stopped.sentence).toContain('the slot was dropped');
    expect((await carillon.command(['doctor'])).out).toContain('source shop/shop-db: Changes since');
    const reset = ['sources', 'reset', 'shop-db', '--reason', 'checked by hand'];
    expect((await carillon.command(reset)).err).toContain('will never be read; pass --yes');
    expect(await carillon.command([...reset, '--yes'])).toMatchObject({ code: 0 });
    await untilFound('it is read again', async () => ((await source())?.state === 'running' ? true : undefined));
    const { items } = await carillon.ask<{ items: readonly { detail: string | null }[] }>([
      'audit',
      'list',
      '--action',
      'source.reset',
    ]);
    expect(items).toHaveLength(2);
    for (const { detail } of items) expect(detail).toMatch(/^not read from .*; checked by hand$/);
  });

  it('prints the database password nowhere, and stores it encrypted only', async () => {
    const commands = [['sources'], ['integration', 'check', 'shop-db'], ['doctor'], ['audit', 'list']];
    const printed = await Promise.all(commands.map((command) => carillon.command([...command, '--json'])));
    expect(JSON.stringify(printed) + carillon.screen + (await carillon.home.stored())).not.toContain('change-me');
  });
});
