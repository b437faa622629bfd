import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from 'vitest';
import { readProcessContext } from './settings.ts';

const folder = mkdtempSync(join(tmpdir(), 'carillon-secrets-'));
afterAll(() => rmSync(folder, { recursive: true }));

const TOKEN = 'of-health-'.padEnd(40, 'x');
const CLUSTER = {
  CARILLON_BROKERS: 'kafka:9092',
  CARILLON_MONGODB_URL: 'mongodb://mongo',
  CARILLON_SCHEMA_REGISTRY_URL: 'http://registry',
};
function written(name: string, text: string): string {
  const file = join(folder, name);
  writeFileSync(file, text);
  return file;
}

it('reads a secret from the file named by its _FILE variable, without the trailing newline', () => {
  const env = {
    ...CLUSTER,
    CARILLON_HEALTH_TOKEN_FILE: written('token', `${TOKEN}\n`),
    CARILLON_MONGODB_USERNAME: 'us',
    CARILLON_MONGODB_PASSWORD_FILE: written('password', 'pass word \r\n'),
    CARILLON_OWNER_TOKEN_FILE: written('owner', 'owner'),
  };
  const { settings, env: found } = readProcessContext({}, env);
  expect(settings.healthToken).toBe(TOKEN);
  expect(settings.cluster?.stores.credentials).toEqual({ username: 'us', password: 'pass word ' });
  expect(found['CARILLON_OWNER_TOKEN']).toBe('owner');
});

it('a file that is missing or empty, or stands beside the value, is named with all else that is wrong', () => {
  const env = {
    CARILLON_HEALTH_TOKEN_FILE: join(folder, 'nowhere'),
    CARILLON_LEDGER_KEY_FILE: written('empty', '\n'),
    CARILLON_MASTER_KEY: 'one',
    CARILLON_MASTER_KEY_FILE: written('other', 'other'),
    CARILLON_TRACE_RATIO: 'most',
  };
  expect(() => readProcessContext({}, env)).toThrow(
    new RegExp(
      [
        `CARILLON_HEALTH_TOKEN_FILE: \\S+nowhere cannot be read: ENOENT.*`,
        `CARILLON_LEDGER_KEY_FILE: \\S+empty is empty`,
        `CARILLON_MASTER_KEY and CARILLON_MASTER_KEY_FILE are both set: unset one of them`,
        `CARILLON_TRACE_RATIO: .*`,
      ].join('\\n'),
    ),
  );
});

it('certificates, and variables of others, are no files of secrets', () => {
  const env = { CARILLON_KAFKA_KEY_FILE: join(folder, 'nowhere'), SSL_CERT_FILE: join(folder, 'nowhere') };
  expect(readProcessContext({}, env).env).toBe(env);
});
