import { readFileSync } from 'node:fs';
import { messageOf } from '@carillon/kernel';
import type { Environment } from './environment.ts';

const SUFFIX = '_FILE';
/** Secrets of a process. Those of workspaces and accounts are not here: they are stored sealed, and may be called `…_FILE` themselves. */
export const SECRETS_OF_A_PROCESS: ReadonlySet<string> = new Set([
  'CARILLON_LEDGER_KEY',
  'CARILLON_API_KEY_PEPPER',
  'CARILLON_MASTER_KEY',
  'CARILLON_OWNER_TOKEN',
  'CARILLON_HEALTH_TOKEN',
  'CARILLON_KAFKA_PASSWORD',
  'CARILLON_MONGODB_URL',
  'CARILLON_MONGODB_PASSWORD',
  'CARILLON_SCHEMA_REGISTRY_PASSWORD',
]);

/**
 * Returns the environment with the secrets read from files: the file at `NAME_FILE` has the value of `NAME`, as
 * container engines mount secrets. A trailing line end is removed. Adds a fault if a file is unreadable or empty, or if
 * the variable itself is set too. A fault never quotes the content of a file.
 */
export function withSecretFiles(env: Environment, faults: string[]): Environment {
  const found: Record<string, string> = {};
  for (const [variable, path] of Object.entries(env)) {
    if (!variable.endsWith(SUFFIX) || !path) continue;
    const name = variable.slice(0, -SUFFIX.length);
    if (!SECRETS_OF_A_PROCESS.has(name)) continue;
    if (env[name]) faults.push(`${name} and ${variable} are both set: unset one of them`);
    else found[name] = textOf(variable, path, faults);
  }
  return Object.keys(found).length === 0 ? env : { ...env, ...found };
}

function textOf(variable: string, path: string, faults: string[]): string {
  try {
    const text = readFileSync(path, 'utf8').replace(/\r?\n$/, '');
    if (text === '') faults.push(`${variable}: ${path} is empty`);
    return text;
  } catch (error) {
    faults.push(`${variable}: ${path} cannot be read: ${messageOf(error)}`);
    return '';
  }
}
