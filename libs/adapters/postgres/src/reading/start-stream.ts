import { setTimeout as pause } from 'node:timers/promises';
import type { PostgresPosition } from '@carillon/domain/changes';
import type { Timing } from '../access.ts';
import { codeOf } from '../connection/connection-errors.ts';
import { waiting } from '../connection/source-failure.ts';
import type { Server } from '../setup/positions.ts';
import { ReplicationStream } from './replication-stream.ts';

const RELEASE_INTERVAL_MS = 100;

/**
 * Starts reading where the slot is, which may be before the position: the reader compares what comes again with the position.
 * Until then nothing is acknowledged. Rejects with SourceFailure `in_use` while another process reads the
 * slot.
 */
export async function startStream(
  { sql, replication }: Server,
  { slot, publication }: PostgresPosition,
  timing: Timing,
): Promise<ReplicationStream> {
  const [row] = await sql.query("SELECT setting::int8::text AS ms FROM pg_settings WHERE name = 'wal_sender_timeout'");
  const timeout = Number(row?.['ms']);
  // The server ends a connection that is silent for so long.
  const statusMs = timeout > 0 ? Math.min(timing.statusMs, timeout / 3) : timing.statusMs;
  const start = (): Promise<ReplicationStream> =>
    ReplicationStream.start(replication, { slot, publication, from: 0n }, { statusMs, silenceMs: timing.silenceMs });
  for (const deadline = performance.now() + timing.releaseMs; ; await pause(RELEASE_INTERVAL_MS)) {
    try {
      return await start();
    } catch (error) {
      if (codeOf(error) !== '55006') throw error;
      if (performance.now() > deadline) throw waiting('in_use');
    }
  }
}
