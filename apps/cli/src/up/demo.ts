import { existsSync, readdirSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { applyFolder, createApiKey, type ControlPorts } from '@carillon/control';
import { readFolder, writeFolder } from '../commands/configuration.ts';
import { CommandError } from '../failure.ts';

const DEMO = fileURLToPath(new URL('../../../../docs/examples/demo', import.meta.url));

/**
 * Fills an empty deployment with the demo workspace: writes its files to a folder for editing (what is there already
 * stays and is used), makes its API key, and applies it. Answers the key, which is shown once.
 */
export async function startDemo(folder: string, ports: ControlPorts): Promise<{ key: string; folder: string }> {
  const there = existsSync(folder) && readdirSync(folder).length > 0;
  if (!there) writeFolder(folder, readFolder(DEMO));
  const key = await createApiKey('shop', { name: 'backend' }, ports);
  const applied = await applyFolder({ files: readFolder(folder), prune: false }, 'demo', ports);
  const [fault] = applied.faults;
  if (fault) throw new CommandError(`${folder}/${fault.file}:${fault.line}:${fault.column} ${fault.message}`);
  return { key, folder };
}
