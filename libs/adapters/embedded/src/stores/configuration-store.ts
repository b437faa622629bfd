import type { LogId } from '@carillon/kernel';
import type { ConfigurationStore } from '@carillon/ports';
import type { Transaction, Write } from '../writing/protocol.ts';

type IdentityRow = { log_id: string; key_fingerprint: string };

export const configurationWrites = ({ sql }: Transaction) => ({
  'configuration.identity'(logId: string, keyFingerprint: string): IdentityRow {
    sql.run('INSERT INTO deployment_identity VALUES (1, ?, ?) ON CONFLICT DO NOTHING', logId, keyFingerprint);
    const row = sql.get('SELECT log_id, key_fingerprint FROM deployment_identity') as IdentityRow | undefined;
    return { log_id: row?.log_id ?? logId, key_fingerprint: row?.key_fingerprint ?? keyFingerprint };
  },
});
type ConfigurationWrites = ReturnType<typeof configurationWrites>;

export const createConfigurationStore = (write: Write<ConfigurationWrites>): ConfigurationStore => ({
  async identity(fresh) {
    const row = await write('configuration.identity', { bytes: 256 }, fresh.logId, fresh.keyFingerprint);
    return { logId: row.log_id as LogId, keyFingerprint: row.key_fingerprint };
  },
});
