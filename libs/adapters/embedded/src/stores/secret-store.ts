import type { Actor } from '@carillon/domain';
import type { DataKey, SealedSecret, SecretStore, WrappedKey } from '@carillon/ports';
import type { Reader } from '../reader.ts';
import type { Transaction, Write } from '../writing/protocol.ts';

type SecretRow = {
  readonly workspace: string;
  readonly name: string;
  readonly sealed: string;
  readonly fingerprint: string;
  readonly updated_at: number;
  readonly version: number;
  readonly data_key: string;
  readonly updated_by: string;
};
type DataKeyRow = {
  readonly workspace: string;
  readonly generation: number;
  readonly id: string;
  readonly revision: number;
  readonly wraps: string;
  readonly made_at: number;
};

export const secretWrites = ({ sql }: Transaction) => ({
  'secrets.put'(secret: SealedSecret, replacing: string | null): boolean {
    const { workspace, name, sealed, fingerprint, updatedAt, version, dataKey } = secret;
    const there = sql.get('SELECT sealed FROM secrets WHERE workspace = ? AND name = ?', workspace, name) as
      | Pick<SecretRow, 'sealed'>
      | undefined;
    if ((there?.sealed ?? null) !== replacing) return there?.sealed === sealed;
    sql.run(
      `INSERT INTO secrets (workspace, name, sealed, fingerprint, updated_at, version, data_key, updated_by)
       VALUES (?, ?, ?, ?, ?, ?, ?, ?)
       ON CONFLICT DO UPDATE SET sealed = excluded.sealed, fingerprint = excluded.fingerprint, updated_at = excluded.updated_at,
         version = excluded.version, data_key = excluded.data_key, updated_by = excluded.updated_by`,
      workspace,
      name,
      sealed,
      fingerprint,
      updatedAt,
      version,
      dataKey,
      JSON.stringify(secret.updatedBy),
    );
    return true;
  },
  'secrets.remove': (workspace: string, name: string): boolean =>
    sql.run('DELETE FROM secrets WHERE workspace = ? AND name = ?', workspace, name) === 1,
  'data-keys.insert'({ workspace, generation, id, revision, wraps, madeAt }: DataKey): boolean {
    const insert = 'INSERT INTO data_keys VALUES (?, ?, ?, ?, ?, ?) ON CONFLICT DO NOTHING';
    if (sql.run(insert, workspace, generation, id, revision, JSON.stringify(wraps), madeAt) === 1) return true;
    const there = sql.get('SELECT id FROM data_keys WHERE workspace = ? AND generation = ?', workspace, generation);
    return (there as Pick<DataKeyRow, 'id'> | undefined)?.id === id;
  },
  'data-keys.rewrap'({ workspace, generation, id, revision, wraps }: DataKey): boolean {
    const text = JSON.stringify(wraps);
    const update = `UPDATE data_keys SET revision = ?, wraps = ?
      WHERE workspace = ? AND generation = ? AND id = ? AND (revision = ? OR (revision = ? AND wraps = ?))`;
    return sql.run(update, revision, text, workspace, generation, id, revision - 1, revision, text) === 1;
  },
  'data-keys.remove': ({ workspace, generation, id }: DataKey): boolean =>
    sql.run(
      `DELETE FROM data_keys WHERE workspace = ? AND generation = ? AND id = ?
         AND NOT EXISTS (SELECT 1 FROM secrets WHERE data_key = ?)`,
      workspace,
      generation,
      id,
      id,
    ) === 1,
});
type SecretWrites = ReturnType<typeof secretWrites>;

export const createSecretStore = (reader: Reader, write: Write<SecretWrites>): SecretStore => ({
  async secret(workspace, name) {
    const select = 'SELECT * FROM secrets WHERE workspace = ? AND name = ?';
    const row = reader.get(select, workspace, name) as SecretRow | undefined;
    return row ? secretOf(row) : null;
  },
  async secrets(workspace) {
    const select = 'SELECT * FROM secrets WHERE ? IS NULL OR workspace = ? ORDER BY workspace, name';
    return (reader.all(select, workspace ?? null, workspace ?? null) as SecretRow[]).map(secretOf);
  },
  async putSecret(secret, replacing) {
    const bytes = secret.sealed.length + 512;
    return (await write('secrets.put', { bytes }, secret, replacing)) ? 'done' : 'stale';
  },
  removeSecret: (workspace, name) => write('secrets.remove', { bytes: 256 }, workspace, name),
  async dataKeys() {
    return (reader.all('SELECT * FROM data_keys ORDER BY workspace, generation') as DataKeyRow[]).map(dataKeyOf);
  },
  insertDataKey: (key) => write('data-keys.insert', { bytes: 512 }, key),
  async rewrapDataKey(key) {
    return (await write('data-keys.rewrap', { bytes: 512 }, key)) ? 'done' : 'stale';
  },
  removeDataKey: (key) => write('data-keys.remove', { bytes: 512 }, key),
});

const secretOf = (row: SecretRow): SealedSecret => ({
  workspace: row.workspace,
  name: row.name,
  version: row.version,
  dataKey: row.data_key,
  sealed: row.sealed,
  fingerprint: row.fingerprint,
  updatedAt: row.updated_at,
  updatedBy: JSON.parse(row.updated_by) as Actor,
});

const dataKeyOf = (row: DataKeyRow): DataKey => ({
  id: row.id,
  workspace: row.workspace,
  generation: row.generation,
  revision: row.revision,
  wraps: JSON.parse(row.wraps) as readonly WrappedKey[],
  madeAt: row.made_at,
});
