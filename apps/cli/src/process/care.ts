import { existsSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Check } from '@carillon/control';
import { CarillonError, formatInstant } from '@carillon/kernel';
import type { Clock, TopicName } from '@carillon/ports';
import type { Backend } from './backend.ts';
import { foreignKey, type Keys } from './deployment-keys.ts';

export async function backupTo(file: string, backend: Backend): Promise<{ bytes: number }> {
  // Over another file it would take away an older backup, or whatever the caller mistook for a free name.
  if (existsSync(file)) throw new CarillonError('invalid_request', `file: ${file} is there already; give a new name`);
  if (!existsSync(dirname(file))) {
    throw new CarillonError('invalid_request', `file: there is no folder ${dirname(file)} on the server`);
  }
  await backend.backup(file);
  return { bytes: (await stat(file)).size };
}

/** Records behind which a group is worth a word. */
const MOST_LAG = 10_000;

/** What `doctor` looks at besides the configuration. */
export async function diagnose(backend: Backend, keys: Keys, clock: Clock): Promise<Check[]> {
  const checks = await backend.checks();
  // Without its stores there is nothing more to ask, and each question would wait for its time to run out.
  if (checks.some(({ step, ok }) => step === 'database' && !ok)) return [...checks];
  const { configurationStore, log } = backend;
  const identity = await configurationStore.identity({ logId: log.logId, keyFingerprint: '' });
  const foreign = foreignKey(backend, keys, identity.keyFingerprint);
  const counts = await backend.ledger.countByState();
  const inDoubt = counts.IN_DOUBT ?? 0;
  return [
    ...checks,
    { step: 'keys', ok: foreign === null, detail: foreign ?? 'are those of the stored data' },
    ...(await lagChecks(backend)),
    {
      step: 'in doubt',
      ok: inDoubt === 0,
      detail: inDoubt === 0 ? 'none' : `${inDoubt} wait for a person: npx carillon deliveries --state IN_DOUBT`,
    },
    { step: 'clock', ok: true, detail: `${formatInstant(clock.now())} (compare it with yours)` },
  ];
}

const GROUPS = [
  ['engine', 'carillon.events'],
  ['engine', 'carillon.triggers'],
  ['engine', 'carillon.lookups'],
  ['delivery', 'carillon.intents'],
  ['control', 'carillon.events'],
  ['control', 'carillon.outcomes'],
] as const;

/** Records of a topic that a group has not finished. */
export async function lagOf({ log, checkpoints }: Backend, group: string, topic: TopicName): Promise<number> {
  let lag = 0;
  for (let partition = 0; partition < log.partitions(topic); partition += 1) {
    const { start, end } = await log.bounds(topic, partition);
    const next = (await checkpoints.load(group, topic, partition))?.next ?? start;
    lag += Math.max(0, end - Math.max(next, start));
  }
  return lag;
}

async function lagChecks(backend: Backend): Promise<Check[]> {
  const steps: Check[] = [];
  for (const [group, topic] of GROUPS) {
    const lag = await lagOf(backend, group, topic);
    steps.push({ step: `${group} on ${topic}`, ok: lag <= MOST_LAG, detail: `${lag} records behind` });
  }
  return steps;
}
