import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isCarillonError } from '@carillon/kernel';
import { afterEach, expect, it } from 'vitest';
import { readSettings } from '../process/settings.ts';
import { endsWhereAway, startRole } from './start-role.ts';

const dataDir = mkdtempSync(join(tmpdir(), 'carillon-role-'));
afterEach(() => rmSync(dataDir, { recursive: true }));

it('a role that starts while Kafka is unavailable exits, and says that a supervisor has to restart it', async () => {
  const env = {
    // Nobody listens there.
    CARILLON_BROKERS: '127.0.0.1:1',
    CARILLON_MONGODB_URL: 'mongodb://127.0.0.1:1',
    CARILLON_SCHEMA_REGISTRY_URL: 'http://127.0.0.1:1',
  };
  const settings = readSettings({ dataDir, logLevel: 'error' }, env);
  expect(settings.cluster).not.toBeNull();
  const error: unknown = await startRole('engine', settings, env, () => undefined).catch(endsWhereAway);
  expect(isCarillonError(error) && error.code).toBe('log_unavailable');
  expect(isCarillonError(error) && error.detail).toMatch(
    /127\.0\.0\.1:1.* has to start it again \(restart: unless-stopped/s,
  );
});
