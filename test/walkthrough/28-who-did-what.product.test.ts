import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { chapter } from './places.ts';
import { startCarillon, type Carillon } from './support.ts';

/*
 * 28. Who did what
 *
 * Each change stands on the audit before it is made, and its outcome before the answer. The records are chained and sealed, so that
 * whoever changes one in the files is found.
 */

type Entry = { readonly action: string; readonly target: string | null; readonly outcome: string };

chapter('28. Who did what', (newHome, place) => {
  let carillon: Carillon;
  beforeAll(async () => {
    carillon = await startCarillon(await newHome());
  });
  afterAll(async () => {
    await carillon.leave();
  });
  const list = async (...more: readonly string[]): Promise<readonly Entry[]> => {
    const { out, code } = await carillon.command(['audit', 'list', '--json', ...more]);
    expect(code).toBe(0);
    return (JSON.parse(out) as { items: readonly Entry[] }).items;
  };

  it('lists the creation and revocation of a key, newest first', async () => {
    expect((await carillon.command(['api-key', 'create', 'partner'])).code).toBe(0);
    expect((await carillon.command(['api-key', 'revoke', 'partner'])).code).toBe(0);
    const [revoked, created] = (await list()).filter(({ action }) => action.startsWith('api_key.'));
    expect(revoked).toMatchObject({ action: 'api_key.revoke', target: 'api_key:shop/partner', outcome: 'done' });
    expect(created).toMatchObject({ action: 'api_key.create', target: 'api_key:shop/partner', outcome: 'done' });
    expect(await list('--action', 'api_key.revoke')).toHaveLength(1);
    expect(await list('--actor', 'per_nobody')).toEqual([]);
  });

  it('says that the chain is whole', async () => {
    const { out, code } = await carillon.command(['audit', 'verify']);
    expect(code).toBe(0);
    expect(out).toContain('The audit is whole');
  });

  // The log of a cluster is Kafka’s, whose files nobody else can open.
  if (place === 'cluster') return;

  it('finds the record that somebody changed in the data file, by its position', async () => {
    // Stopping seals what is unsealed.
    await carillon.stop();
    const db = new DatabaseSync(join(carillon.folder, 'carillon-data', 'carillon.db'));
    const places =
      "FROM records WHERE place / 1099511627776 = (SELECT id FROM partitions WHERE topic = 'carillon.audit')";
    const row = db.prepare(`SELECT place, value ${places} ORDER BY place LIMIT 1 OFFSET 1`).get() as {
      place: number;
      value: Uint8Array;
    };
    const value = Buffer.from(row.value);
    value[value.length - 1] = (value.at(-1) ?? 0) ^ 1;
    db.prepare('UPDATE records SET value = ? WHERE place = ?').run(value, row.place);
    db.close();
    carillon = await startCarillon(carillon.home);
    const { out, code } = await carillon.command(['audit', 'verify']);
    expect(code).toBe(1);
    expect(out).toContain(`the record at position 1 was changed`);
  });
});
