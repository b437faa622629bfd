import { existsSync, readdirSync } from 'node:fs';
import { applyFolder, createApiKey, planFolder, type ControlPorts } from '@carillon/control';
import { SYSTEM_ACTOR } from '@carillon/domain/people';
import { readFolder, writeFolder } from '../commands/configuration.ts';
import { showFault } from '../commands/plan-text.ts';
import { UsageError } from '../failure.ts';
import { DEMO_FOLDER } from '../shipped-files.ts';

/**
 * Fills an empty deployment with the demo workspace: writes its files to a folder for editing (what is there already
 * stays and is used), makes its API key, and applies it. Answers the key, which is shown once.
 */
export async function startDemo(folder: string, ports: ControlPorts): Promise<{ key: string; folder: string }> {
  const there = existsSync(folder) && readdirSync(folder).length > 0;
  if (!there) writeFolder(folder, readFolder(DEMO_FOLDER));
  const request = { files: readFolder(folder), prune: false };
  const { body } = await planFolder(request, ports);
  if (body.faults.length > 0) {
    // Before anything is made: the key of a deployment that stays empty would be shown to nobody.
    const mistakes = body.faults.map((fault) => showFault(fault, folder));
    throw new UsageError(`correct or remove ${folder}, then start Carillon again\n${mistakes.join('\n')}`);
  }
  const by = { actor: SYSTEM_ACTOR, origin: 'apply', message: 'The demo', requestId: null } as const;
  const { key } = await createApiKey('shop', { name: 'backend' }, by, ports);
  await applyFolder(request, by, ports);
  return { key, folder };
}
