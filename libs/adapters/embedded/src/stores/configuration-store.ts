import type { LogId } from '@carillon/kernel';
import type { ConfigurationStore, SealedSecret } from '@carillon/ports';
import type { Reader } from '../reader.ts';
import type { Transaction, Write } from '../writing/protocol.ts';

type IdentityRow = { log_id: string; key_fingerprint: string };
type SecretRow = { workspace: string; name: string; sealed: string; fingerprint: string; updated_at: number };

export const configurationWrites = ({ sql }: Transaction) => ({
  'configuration.identity'(logId: string, keyFingerprint: string): IdentityRow {
    sql.run('INSERT INTO deployment_identity VALUES (1, ?, ?) ON CONFLICT DO NOTHING', logId, keyFingerprint);
    const row = sql.get('SELECT log_id, key_fingerprint FROM deployment_identity') as IdentityRow | undefined;
    return { log_id: row?.log_id ?? logId, key_fingerprint: row?.key_fingerprint ?? keyFingerprint };
  },
  'secrets.put'(secret: SealedSecret): void {
    sql.run(
      `INSERT INTO secrets VALUES (?, ?, ?, ?, ?)
       ON CONFLICT DO UPDATE SET sealed = excluded.sealed, fingerprint = excluded.fingerprint, updated_at = excluded.updated_at`,
      secret.workspace,
      secret.name,
      secret.sealed,
      secret.fingerprint,
      secret.updatedAt,
    );
  },
  'secrets.remove': (workspace: string, name: string): boolean =>
    sql.run('DELETE FROM secrets WHERE workspace = ? AND name = ?', workspace, name) === 1,
});
type ConfigurationWrites = ReturnType<typeof configurationWrites>;

export const createConfigurationStore = (reader: Reader, write: Write<ConfigurationWrites>): ConfigurationStore => ({
  async identity(fresh) {
    const row = await write('configuration.identity', { bytes: 256 }, fresh.logId, fresh.keyFingerprint);
    return { logId: row.log_id as LogId, keyFingerprint: row.key_fingerprint };
  },
  putSecret: (secret) => write('secrets.put', { bytes: secret.sealed.length + 256 }, secret),
  removeSecret: (workspace, name) => write('secrets.remove', { bytes: 256 }, workspace, name),
  async secret(workspace, name) {
    const row = reader.get('SELECT * FROM secrets WHERE workspace = ? AND name = ?', workspace, name) as
      | SecretRow
      | undefined;
    return row ? fromRow(row) : null;
  },
  async secrets(workspace) {
    const rows = reader.all(
      'SELECT * FROM secrets WHERE ? IS NULL OR workspace = ? ORDER BY workspace, name',
      workspace ?? null,
      workspace ?? null,
    ) as SecretRow[];
    return rows.map(fromRow);
  },
});

const fromRow = (row: SecretRow): SealedSecret => ({
  workspace: row.workspace,
  name: row.name,
  sealed: row.sealed,
  fingerprint: row.fingerprint,
  updatedAt: row.updated_at,
});
